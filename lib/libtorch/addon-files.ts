import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packageFolder } from '../package-folder.js';
import { LIBTORCH_VERSION } from './version.js';

/** Written beside a finished build, last, so that a killed build leaves none. */
export interface BuildRecord {
  /** Version of this package. */
  version: string;
  libtorch: string;
  /** SHA-256 over the native sources. */
  sources: string;
}

/** The loader and the core, side by side. */
export interface AddonFiles {
  loader: string;
  core: string;
}

export const RECORD_NAME = 'build.json';

const resolveAddon = (createRequire(import.meta.url)('node-gyp-build') as { resolve: (folder: string) => string })
  .resolve;

/**
 * The loader and core that fit this package: from build/Release, else from prebuilds/. undefined when there are none, or
 * when they were built from other sources.
 *
 * @param asTheyAre takes what lies there without looking at what it was built from
 */
export function addonFiles(folder = packageFolder(), asTheyAre = false): AddonFiles | undefined {
  let loader: string;
  try {
    loader = resolveAddon(folder);
  } catch {
    // node-gyp-build has no other way to say that there is none.
    return undefined;
  }
  const files = { loader, core: join(dirname(loader), 'grpo-core.so') };
  if (!existsSync(files.core)) return undefined;
  return asTheyAre || fits(join(dirname(loader), RECORD_NAME), wantedRecord(folder)) ? files : undefined;
}

function fits(recordFile: string, wanted: BuildRecord): boolean {
  if (!existsSync(recordFile)) return false;
  const record = JSON.parse(readFileSync(recordFile, 'utf8')) as Partial<BuildRecord>;
  return record.version === wanted.version && record.libtorch === wanted.libtorch && record.sources === wanted.sources;
}

/** What a build made now would be recorded as. */
export function wantedRecord(folder = packageFolder()): BuildRecord {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, libtorch: LIBTORCH_VERSION, sources: sourcesHash(folder) };
}

function sourcesHash(folder: string): string {
  const hash = createHash('sha256');
  const native = join(folder, 'native');
  const names = readdirSync(native, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(cc|h|cu)$/.test(name));
  for (const path of [join(folder, 'CMakeLists.txt'), ...names.sort().map((name) => join(native, name))]) {
    hash.update(path.slice(folder.length)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}
