import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GrpoError } from './errors.js';

/** The package's own folder, from the sources as well as from `dist/`. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'CMakeLists.txt')) || !existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new GrpoError('INTERNAL', 'libtorch', 'the package folder holds no CMakeLists.txt');
    folder = parent;
  }
  return folder;
}
