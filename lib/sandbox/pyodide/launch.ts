import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { GrpoError } from '../../errors.js';

/** Packages that programs often ask for and that no list of pyodide names. */
const OTHERS = [
  'torch',
  'tensorflow',
  'flask',
  'django',
  'psutil',
  'seaborn',
  'selenium',
  'librosa',
  'gensim',
  'wordninja',
];

/** The npm package pyodide on this machine. */
export interface Pyodide {
  /** Path of the module that is imported. */
  entry: string;
  version: string;
  /** Modules that are no part of Python: a program that imports one that is missing cannot be judged. */
  packages: string[];
}

/**
 * Finds the npm package pyodide, an optional one.
 *
 * @throws SANDBOX_UNAVAILABLE with the line that installs it
 */
export function findPyodide(): Pyodide {
  const require = createRequire(join(process.cwd(), 'package.json'));
  for (const resolve of [createRequire(import.meta.url).resolve, require.resolve]) {
    let folder: string;
    try {
      folder = dirname(resolve('pyodide/package.json'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') continue;
      throw error;
    }
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    const lock = JSON.parse(readFileSync(join(folder, 'pyodide-lock.json'), 'utf8')) as {
      packages: Record<string, { imports: string[] }>;
    };
    const packages = Object.values(lock.packages).flatMap(({ imports }) => imports);
    return { entry: join(folder, 'pyodide.mjs'), version, packages: [...new Set([...packages, ...OTHERS])] };
  }
  throw new GrpoError(
    'SANDBOX_UNAVAILABLE',
    'Sandbox.open',
    "backend 'pyodide' needs the npm package pyodide: npm install pyodide",
  );
}

/** Arguments of node for a child that can read the folder of pyodide and nothing else, and make no code from text. */
export function nodeArguments(pyodide: Pyodide, script: string, python: string): string[] {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  return [
    ...['--no-warnings', permission, `--allow-fs-read=${dirname(pyodide.entry)}/*`],
    ...['--disallow-code-generation-from-strings', '--input-type=module'],
    ...['--eval', `const python = ${JSON.stringify(python)};\n${script}`, pyodide.entry],
  ];
}
