import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import lockfile from 'proper-lockfile';
import { GrpoError } from '../errors.js';

/** Whoever works in a run's folder. */
interface Owner {
  host: string;
  pid: number;
  /** When the process began, in ticks since boot: a number that was given out again is another process. */
  began: string;
}

const NAME = 'run.lock';

/** undefined: there is no such process. */
function beganAt(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22; the name in field 2 may hold spaces and brackets.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

async function readOwner(path: string): Promise<Owner | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Owner;
  } catch {
    // Half written by a process that was killed: nobody's.
    return undefined;
  }
}

const isAlive = (owner: Owner) => owner.host !== hostname() || beganAt(owner.pid) === owner.began;

/**
 * Makes this process the only one that works in a run's folder. A lock whose process is gone (killed, or the machine
 * restarted) is taken over at once.
 *
 * @returns what gives the folder back
 * @throws {GrpoError} RUN_LOCKED while another process works there, IO_FAILED
 */
export async function lockRun(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, NAME);
  const own: Owner = { host: hostname(), pid: process.pid, began: beganAt(process.pid) ?? '' };
  const wrapped = (error: unknown) => {
    if (error instanceof GrpoError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    return new GrpoError('IO_FAILED', 'run', `${path} cannot be written: ${reason}`, { cause: error });
  };
  try {
    // Guards only the look and the claim, so that two processes cannot both take a dead one's lock.
    const release = await lockfile.lock(path, {
      realpath: false,
      stale: 5000,
      retries: { retries: 100, factor: 1, minTimeout: 100 },
    });
    try {
      const owner = await readOwner(path);
      if (owner && isAlive(owner)) {
        const where = owner.host === hostname() ? '' : ` on ${owner.host}`;
        const message = `process ${owner.pid}${where} is working in ${folder}; wait for it, or end it`;
        const gone = where ? ` (if that machine is gone, delete ${path})` : '';
        throw new GrpoError('RUN_LOCKED', 'run', message + gone);
      }
      await writeFile(path, `${JSON.stringify(own)}\n`);
    } finally {
      await release();
    }
  } catch (error) {
    throw wrapped(error);
  }
  return () => rm(path, { force: true });
}
