import type { LoggerName } from '../config/index.js';

/** What one episode said, as an example. */
export interface LogSample {
  /** Id of the task. */
  task: string;
  reward: number | null;
  text: string;
}

/** Everything there is to log about one step, its evaluations included. */
export interface LogRow {
  step: number;
  /** When it was over, Unix time in seconds. */
  time: number;
  /** Name -> finite number, e.g. `train/reward_mean`. */
  scalars: Record<string, number>;
  samples: readonly LogSample[];
}

/** How a run ended, for services that show it. */
export type LogEnd = 'finished' | 'interrupted' | 'failed';

/** One place that a run is logged to. Every method may throw: that is told as a warning and ends no run. */
export interface RunLogger {
  readonly name: LoggerName;
  /**
   * Begins, or goes on: rows of the run's records that are missing are written, and what was logged beyond them is forgotten,
   * because a resumed run does those steps again.
   *
   * @param rows the run's records so far, by step; none for a new run
   */
  open: (rows: readonly LogRow[]) => Promise<void>;
  /** The next row; its step is larger than that of all before. */
  write: (row: LogRow) => Promise<void>;
  /** @returns whether everything has arrived */
  close: (end: LogEnd) => Promise<boolean>;
}

/** What a logger is opened with. */
export interface LoggerContext {
  /** The run's folder. */
  folder: string;
  /** The effective configuration of the run, as in its config.json. */
  config: Record<string, unknown>;
  env: NodeJS.ProcessEnv;
  message: (text: string) => void;
  warning: (text: string) => void;
}
