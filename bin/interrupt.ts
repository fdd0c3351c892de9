import { constants } from 'node:os';
import { printLine } from '../lib/terminal/live.js';

/**
 * How long a step may still take after the signal, in ms; then it is dropped. A person who pressed Ctrl-C can press it again,
 * while a system that is going down kills soon after it has asked.
 */
const GRACE_MS = { SIGINT: Infinity, SIGTERM: 5_000, SIGHUP: 5_000 };
type Handled = keyof typeof GRACE_MS;
const HANDLED = Object.keys(GRACE_MS) as Handled[];

/** Signals of a command that saves before it leaves. */
export interface Interruption {
  /** Fires at the first Ctrl-C, SIGTERM or SIGHUP: end after the present step. */
  stop: AbortSignal;
  /** Fires when the present step took too long to end; never after Ctrl-C. */
  signal: AbortSignal;
  /** 130, 143 or 129 after a signal, else undefined. */
  exitCode: () => number | undefined;
  dispose: () => void;
}

/**
 * The first Ctrl-C (SIGTERM, or SIGHUP of a closed terminal) asks for an orderly end, the second leaves at once.
 *
 * @param announce what to print, given the seconds that the present step may still take (Infinity: as long as it needs)
 */
export function onInterrupt(announce: (graceSeconds: number) => string): Interruption {
  const stop = new AbortController();
  const hard = new AbortController();
  let code: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const listener = (name: Handled) => {
    const exitCode = 128 + constants.signals[name];
    if (code !== undefined) process.exit(exitCode);
    code = exitCode;
    if (!process.env['GRPO_QUIET']) {
      // Below the ^C that a terminal shows.
      if (process.stderr.isTTY) printLine(process.stderr, '');
      printLine(process.stderr, announce(GRACE_MS[name] / 1000));
    }
    stop.abort();
    if (GRACE_MS[name] === Infinity) return;
    timer = setTimeout(() => hard.abort(), GRACE_MS[name]);
    timer.unref();
  };
  for (const name of HANDLED) process.on(name, listener);
  return {
    stop: stop.signal,
    signal: hard.signal,
    exitCode: () => code,
    dispose: () => {
      clearTimeout(timer);
      for (const name of HANDLED) process.off(name, listener);
    },
  };
}

/** What a command that trains prints at the first signal. */
export const trainingStops = (graceSeconds: number): string => {
  const limit = graceSeconds === Infinity ? '' : ` (${graceSeconds} s at most, else it is dropped)`;
  return `stopping: the present step ends${limit}, then the state is saved; again to leave at once`;
};
