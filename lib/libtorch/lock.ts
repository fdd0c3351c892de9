import { setTimeout as sleep } from 'node:timers/promises';
import lockfile from 'proper-lockfile';

/**
 * Runs `work` while no other process does so for the same path. The lock lies beside it (`<path>.lock`), is kept fresh, and
 * is taken over 15 s after its owner died.
 *
 * @param path need not exist; its folder must
 */
export async function withLock<T>(path: string, report: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const release = await acquire(path, report);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function acquire(path: string, report: (line: string) => void): Promise<() => Promise<void>> {
  for (let told = false; ; told = true) {
    try {
      return await lockfile.lock(path, { realpath: false, stale: 15_000, update: 3_000 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error;
    }
    if (!told) report(`another process is at work on ${path}: waiting`);
    await sleep(500);
  }
}
