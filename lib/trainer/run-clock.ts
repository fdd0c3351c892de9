/** Steps whose times count: what a step takes changes while a policy learns. */
const REMEMBERED = 10;

/** How long a run will still take, from the steps of this process. */
export class RunClock {
  readonly #stepSeconds: number[] = [];
  #last: number;

  /** @param now seconds, for tests */
  constructor(private readonly now: () => number = () => performance.now() / 1000) {
    this.#last = now();
  }

  /** Something that is no step ended, such as the first evaluation: its time is no step's. */
  restart(): void {
    this.#last = this.now();
  }

  /** A step ended, its evaluation and checkpoint included. */
  step(): void {
    const now = this.now();
    this.#stepSeconds.push(now - this.#last);
    if (this.#stepSeconds.length > REMEMBERED) this.#stepSeconds.shift();
    this.#last = now;
  }

  /**
   * Seconds until so many steps are done; undefined before the first step.
   *
   * @param steps that are still to do, the present one included
   */
  secondsLeft(steps: number): number | undefined {
    if (this.#stepSeconds.length === 0) return undefined;
    const mean = this.#stepSeconds.reduce((sum, seconds) => sum + seconds, 0) / this.#stepSeconds.length;
    return Math.max(0, steps * mean - (this.now() - this.#last));
  }
}
