import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { GrpoError } from '../errors.js';
import { makeFolders } from '../model/make-folders.js';

const cleanName = (model: string) =>
  basename(model.replace(/[/\\]+$/, '').replace(/^embedded:/, '')).replace(/[^\w.-]+/g, '-') || 'model';

/** `runs/<date>-<model>`, with a number where that exists. */
export function defaultRunFolder(model: string, now: Date): string {
  const base = join('runs', `${now.toISOString().slice(0, 10)}-${cleanName(model)}`);
  if (!existsSync(base)) return base;
  for (let number = 2; ; number++) if (!existsSync(`${base}-${number}`)) return `${base}-${number}`;
}

/**
 * Makes the folder of a new run.
 *
 * @returns its absolute path
 * @throws {GrpoError} RUN_EXISTS when it is there and not empty, IO_FAILED when it cannot be made
 */
export async function createRunFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    await makeFolders(dirname(path));
    await mkdir(path);
    return path;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') {
      throw new GrpoError('IO_FAILED', 'run', `the run folder ${folder} cannot be made: ${message}`, { cause: error });
    }
    const entries = await readdir(path).catch(() => ['not a folder']);
    // A process that was killed before it wrote config.json leaves no run behind.
    if (entries.every((name) => name === 'run.lock' || /^\..*\.tmp$/.test(name))) return path;
    const goOn = entries.includes('config.json') ? `, or go on with that run by train --resume ${folder}` : '';
    const advice = `choose another --output${goOn}`;
    throw new GrpoError('RUN_EXISTS', 'run', `${folder} exists already; ${advice}`);
  }
}

/** Writes a folder beside its final place and swaps it in, so that the old one stays whole until the new one is. */
export async function replaceFolder(folder: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const next = `${folder}.next`;
  const old = `${folder}.old`;
  await rm(next, { recursive: true, force: true });
  await write(next);
  await rm(old, { recursive: true, force: true });
  if (existsSync(folder)) await rename(folder, old);
  await rename(next, folder);
  await rm(old, { recursive: true, force: true });
}
