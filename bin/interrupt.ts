import { constants } from 'node:os';

/** How long a step may still take after the signal, in ms; then it is dropped. */
const GRACE_MS = { SIGINT: 20_000, SIGTERM: 5_000 };

/** Signals of a command that saves before it leaves. */
export interface Interruption {
  /** Fires at the first Ctrl-C or SIGTERM: end after the present step. */
  stop: AbortSignal;
  /** Fires when the present step took too long to end. */
  signal: AbortSignal;
  /** 130 or 143 after a signal, else undefined. */
  exitCode: () => number | undefined;
  dispose: () => void;
}

/** The first Ctrl-C (or SIGTERM) asks for an orderly end, the second leaves at once. */
export function onInterrupt(announce: string): Interruption {
  const stop = new AbortController();
  const hard = new AbortController();
  let code: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const listener = (name: NodeJS.Signals) => {
    const exitCode = 128 + constants.signals[name];
    if (code !== undefined) process.exit(exitCode);
    code = exitCode;
    process.stderr.write(`\n${announce}\n`);
    stop.abort();
    timer = setTimeout(() => hard.abort(), name === 'SIGTERM' ? GRACE_MS.SIGTERM : GRACE_MS.SIGINT);
    timer.unref();
  };
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  return {
    stop: stop.signal,
    signal: hard.signal,
    exitCode: () => code,
    dispose: () => {
      clearTimeout(timer);
      process.off('SIGINT', listener);
      process.off('SIGTERM', listener);
    },
  };
}
