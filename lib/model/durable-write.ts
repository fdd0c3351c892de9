import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { GrpoError } from '../errors.js';
import { makeFolders } from './make-folders.js';

const temporaryName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`);

function asIoError(path: string, cause: unknown): GrpoError {
  if (cause instanceof GrpoError) return cause;
  const message = `${path} cannot be written (${(cause as Error).message}); free space or choose another folder`;
  return new GrpoError('IO_FAILED', 'save', message, { cause });
}

/** The fault that led here is the one to report, so one of tidying up is left out. */
const discard = (path: string): Promise<void> => rm(path, { recursive: true, force: true }).catch(() => undefined);

/** A rename is only durable once the folder that holds the name is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes a file under a temporary name beside it, syncs it and renames it, so that it is never seen half written.
 *
 * @throws GrpoError IO_FAILED; the temporary file is gone then and an older file of that name is untouched.
 */
export async function replaceFile(
  path: string,
  write: (handle: FileHandle) => Promise<void>,
  { makeFolder = false }: { makeFolder?: boolean } = {},
): Promise<void> {
  const temporary = temporaryName(resolve(path));
  try {
    if (makeFolder) await makeFolders(dirname(temporary));
    const handle = await open(temporary, 'wx');
    try {
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(resolve(path)));
  } catch (cause) {
    await discard(temporary);
    throw asIoError(path, cause);
  }
}

async function checkReplaceable(folder: string, marker: string | undefined): Promise<boolean> {
  const status = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!status) return false;
  if (!status.isDirectory()) throw new GrpoError('INVALID_ARGUMENT', 'save', `${folder} is a file, not a folder`);
  const names = await readdir(folder);
  if (names.length > 0 && (marker === undefined || !names.includes(marker))) {
    const message = `${folder} holds other files (${names.slice(0, 3).join(', ')}); name a new or an empty folder`;
    throw new GrpoError('INVALID_ARGUMENT', 'save', message);
  }
  return true;
}

/**
 * Fills a folder under a temporary name beside it and renames it. A folder already there is replaced only when it is
 * empty or holds `marker` (an earlier save of the same kind; undefined: never replaced).
 *
 * @throws GrpoError INVALID_ARGUMENT when the folder holds other things, IO_FAILED when the disk refuses.
 */
export async function publishFolder(
  folder: string,
  marker: string | undefined,
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  const target = resolve(folder);
  const temporary = temporaryName(target);
  try {
    await makeFolders(dirname(target));
    const exists = await checkReplaceable(target, marker);
    await mkdir(temporary);
    await fill(temporary);
    await syncFolder(temporary);
    // rename(2) replaces an empty folder only, so an older save steps aside first.
    const aside = temporaryName(target);
    if (exists) await rename(target, aside);
    try {
      await rename(temporary, target);
    } catch (cause) {
      if (exists) await rename(aside, target);
      throw cause;
    }
    await syncFolder(dirname(target));
    if (exists) await rm(aside, { recursive: true, force: true });
  } catch (cause) {
    await discard(temporary);
    throw asIoError(folder, cause);
  }
}
