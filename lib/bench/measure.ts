/** How long work took. */
export interface Measured {
  /** Wall clock. */
  seconds: number;
  /** Processor time of this process; what other processes do is not in it. */
  processorSeconds: number;
}

/** The middle one of some values; of an even number the one below the middle. */
export function median<T>(values: readonly T[], of: (value: T) => number): T {
  const sorted = [...values].sort((left, right) => of(left) - of(right));
  return sorted[Math.floor((sorted.length - 1) / 2)] as T;
}

/**
 * Runs work once to warm up, then so many times, and gives the round in the middle.
 *
 * @param prepare what each round needs, made outside the measured time
 * @param now milliseconds, for tests
 */
export async function measure<T>(
  rounds: number,
  prepare: () => Promise<T>,
  work: (prepared: T) => Promise<unknown>,
  now: () => number = () => performance.now(),
): Promise<Measured> {
  const all: Measured[] = [];
  for (let round = 0; round <= rounds; round++) {
    const prepared = await prepare();
    const before = process.cpuUsage();
    const started = now();
    await work(prepared);
    const seconds = (now() - started) / 1000;
    const { user, system } = process.cpuUsage(before);
    if (round > 0) all.push({ seconds, processorSeconds: (user + system) / 1e6 });
  }
  return median(all, ({ seconds }) => seconds);
}
