import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { GrpoError } from '../../errors.js';
import { cacheFolder } from '../../libtorch/cache-folder.js';
import { makeFolders } from '../../model/make-folders.js';
import { documentationFolder, loadDocumentation, shippedIndexPath } from './entries.js';
import { DocumentationIndex } from './search.js';

const BUILD_TIMEOUT_MS = 600_000;
const ASK_TIMEOUT_MS = 20_000;
const execute = promisify(execFile);
const loaded = new Map<string, Promise<DocumentationIndex>>();

/** What `docs index` made. */
export interface BuiltDocumentation {
  file: string;
  python: string;
  entries: number;
  modules: number;
  /** Installed packages that were read -> version. */
  packages: Record<string, string>;
  bytes: number;
}

/** The shipped index of the standard library; read at the first call, then kept. */
export function shippedDocumentation(): Promise<DocumentationIndex> {
  return openFile(shippedIndexPath());
}

/**
 * The index that was built for an interpreter with {@link buildDocumentation}; the shipped one where there is none.
 *
 * @throws IO_FAILED, INVALID_ARGUMENT where an index can't be read
 */
export async function openDocumentation(python = 'python3'): Promise<DocumentationIndex> {
  const file = await builtIndexPath(python);
  return file !== undefined && existsSync(file) ? openFile(file) : shippedDocumentation();
}

/**
 * Reads docstrings and signatures of an interpreter's standard library and installed packages into the cache.
 *
 * @param only names of the packages to read; [] = all
 * @throws SANDBOX_UNAVAILABLE where there is no such interpreter, SANDBOX_FAILED where reading fails
 */
export async function buildDocumentation(
  python = 'python3',
  only: string[] = [],
  signal?: AbortSignal,
): Promise<BuiltDocumentation> {
  const file = await builtIndexPath(python);
  if (file === undefined) {
    throw new GrpoError(
      'SANDBOX_UNAVAILABLE',
      'docs index',
      `can't run '${python}': install it (apt-get install python3) or name another with --python`,
    );
  }
  await makeFolders(path.dirname(file)).catch((cause: Error) => {
    throw new GrpoError('IO_FAILED', 'docs index', `${file} can't be written: ${cause.message}`, { cause });
  });
  // An index that is there stays until the new one is whole and what was asked for.
  // It ends as the other does: the end says that it is compressed.
  const fresh = file.replace(/\.json\.gz$/, `.${process.pid}.tmp.json.gz`);
  const folder = documentationFolder();
  const script = path.join(folder, 'build_index.py');
  const args = [
    '-I',
    script,
    '--packages',
    `--only=${only.join(',')}`,
    '--hints',
    path.join(folder, 'hints.tsv'),
    '--output',
    fresh,
  ];
  try {
    const { stdout } = await execute(python, args, { timeout: BUILD_TIMEOUT_MS, signal, maxBuffer: 1 << 24 });
    const made = JSON.parse(stdout.trim().split('\n').at(-1)!) as Omit<BuiltDocumentation, 'file'>;
    const missing = only.filter((name) => !Object.hasOwn(made.packages, name));
    if (missing.length > 0) {
      const message = `${python} has no package named ${missing.join(', ')}; the index was not changed`;
      throw new GrpoError('INVALID_ARGUMENT', 'docs index', message);
    }
    await rename(fresh, file);
    loaded.delete(file);
    return { file, ...made };
  } catch (cause) {
    await rm(fresh, { force: true });
    if (cause instanceof GrpoError) throw cause;
    if (signal?.aborted)
      throw new GrpoError('ABORTED', 'docs index', 'stopped before the index was complete', { cause });
    const { stderr = '', message } = cause as Error & { stderr?: string };
    const reason = stderr.trim().split('\n').at(-1) || message;
    throw new GrpoError('SANDBOX_FAILED', 'docs index', `${python} could not read its documentation: ${reason}`, {
      cause,
    });
  }
}

function openFile(file: string): Promise<DocumentationIndex> {
  const known = loaded.get(file);
  if (known !== undefined) return known;
  const opening = loadDocumentation(file).then((data) => new DocumentationIndex(data));
  loaded.set(file, opening);
  opening.catch(() => loaded.delete(file));
  return opening;
}

/** Where the index of an interpreter is kept: one file for each executable and version. `undefined`: it does not run. */
async function builtIndexPath(python: string): Promise<string | undefined> {
  const question = 'import sys; print(sys.executable, sys.version, sys.prefix)';
  let identity: string;
  try {
    identity = (await execute(python, ['-I', '-c', question], { timeout: ASK_TIMEOUT_MS })).stdout;
  } catch {
    return undefined;
  }
  const key = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  return path.join(cacheFolder(), 'documentation', `python-${key}.json.gz`);
}
