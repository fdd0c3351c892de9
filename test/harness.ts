/** What a suite prints when something it needs is not there; test/run.js counts it, CI fails on it. */
export const SKIPPED = 'SKIPPED:';

/** Says aloud that this whole file is skipped, and ends it. */
export function skipAloud(reason: string): never {
  console.log(`${SKIPPED} ${reason}`);
  process.exit(0);
}
