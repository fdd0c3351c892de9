import { coloursFor } from './colours.js';
import { durationText } from './duration.js';
import { clearLive, printLine, showLive } from './live.js';
import type { LineStream } from './live.js';

/** How far some work is. */
export interface WorkProgress {
  /** What is under way, e.g. `step 3/100`. */
  label: string;
  done?: number;
  /** Left out where it is not known: then the time so far is shown. */
  total?: number;
  /** What is counted, e.g. `episodes`. */
  unit?: string;
  /** What else there is to say, most important first, e.g. `148 tok/s`. */
  facts?: readonly string[];
  /** Seconds until everything is done. */
  leftSeconds?: number;
}

const BAR = { most: 24, least: 6 };
const bar = (share: number, width: number) => {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
};

/** Work as one line of at most so many columns: the bar shrinks first, then the last facts go. */
export function progressText(work: WorkProgress, columns: number, elapsedSeconds: number): string {
  const { label, done = 0, total, unit = '', facts = [], leftSeconds } = work;
  const left = leftSeconds === undefined ? [] : [`${durationText(leftSeconds)} left`];
  const said = [...facts, ...left];
  if (total === undefined) return [`${label} (${durationText(elapsedSeconds)})`, ...said].join('  ').slice(0, columns);
  const count = `${done}/${total}${unit && ` ${unit}`}`;
  for (let kept = said.length; ; kept--) {
    const tail = [count, ...said.slice(0, kept)].join('  ');
    const room = columns - label.length - tail.length - 2;
    if (room >= BAR.least || kept === 0) {
      const width = Math.min(BAR.most, room);
      return [label, ...(width >= BAR.least ? [bar(total === 0 ? 1 : done / total, width)] : []), tail].join(' ');
    }
  }
}

/** Milliseconds of silence after which work that goes on says so, where no line can be overwritten. */
const SILENCE_MS = 30_000;

/** Shows work that is under way: a live line on a terminal, elsewhere a plain line when nothing was said for half a minute. */
export class ProgressLine {
  #label = '';
  #started = 0;
  #spoken: number;
  #isShown = false;

  /**
   * @param prefix what plain lines begin with
   * @param now milliseconds, for tests
   */
  constructor(
    readonly stream: LineStream,
    readonly prefix = '',
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#spoken = now();
  }

  show(work: WorkProgress): void {
    const now = this.now();
    if (work.label !== this.#label) this.#started = now;
    this.#label = work.label;
    const seconds = () => (this.now() - this.#started) / 1000;
    if (this.stream.isTTY) {
      this.#isShown = true;
      return showLive(this.stream, (columns) => progressText(work, columns, seconds()), coloursFor(this.stream).dim);
    }
    if (now - this.#spoken < SILENCE_MS) return;
    const { label, done, total, unit = '', facts = [] } = work;
    const count = total === undefined ? durationText(seconds()) : `${done ?? 0} of ${total} ${unit}`.trimEnd();
    this.print(`${this.prefix}${[`${label}: ${count}`, ...facts].join('  ')}`);
  }

  /** A line that stays, above what is live. */
  print(line: string): void {
    this.#spoken = this.now();
    printLine(this.stream, line);
  }

  /** Nothing is under way any more. */
  clear(): void {
    if (this.#isShown) clearLive();
    this.#isShown = false;
    this.#label = '';
  }
}

/** A bar about one piece of work. */
export interface Progress {
  update: (done: number, total: number) => void;
  stop: () => void;
}

/**
 * A bar on stderr; a plain line now and then where stderr is no terminal. `GRPO_QUIET` silences both.
 *
 * @param unit what is counted; 'MB' takes bytes
 */
export function startProgress(label: string, unit: string): Progress {
  const line = new ProgressLine(process.stderr, 'grpo-native: ');
  const scale = unit === 'MB' ? 1e6 : 1;
  const started = performance.now();
  return {
    update(done, total) {
      if (process.env['GRPO_QUIET'] || !Number.isFinite(total)) return;
      const seconds = (performance.now() - started) / 1000;
      const share = total > 0 ? done / total : 0;
      line.show({
        label,
        done: Math.floor(done / scale),
        total: Math.ceil(total / scale),
        unit,
        facts: [`${Math.floor(100 * share)}%`],
        ...(share > 0 && seconds > 2 ? { leftSeconds: (seconds / share) * (1 - share) } : {}),
      });
    },
    stop: () => line.clear(),
  };
}
