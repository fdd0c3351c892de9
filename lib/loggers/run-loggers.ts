import type { LoggerName } from '../config/index.js';
import { jsonlLogger } from './jsonl.js';
import { evaluationScalars, readRows, readRunConfig, trainScalars } from './rows.js';
import { tensorboardLogger } from './tensorboard.js';
import type { LogEnd, LoggerContext, LogRow, LogSample, RunLogger } from './types.js';
import { wandbLogger } from './wandb.js';

const LOGGERS: Record<LoggerName, (context: LoggerContext) => RunLogger> = {
  tensorboard: tensorboardLogger,
  wandb: wandbLogger,
  jsonl: jsonlLogger,
};

/** How loggers are opened. */
export interface LoggersRequest {
  names: readonly LoggerName[];
  /** The run's folder; its records are what is logged. */
  folder: string;
  /** @default process.env */
  env?: NodeJS.ProcessEnv;
  message: (text: string) => void;
  warning: (text: string) => void;
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The loggers of one run. Nothing here throws: a logger that fails is told once and left out from then on. */
export class RunLoggers {
  #loggers: RunLogger[] = [];
  #row: Pick<LogRow, 'scalars' | 'samples'> = { scalars: {}, samples: [] };
  /** The last row of the records that a run goes on with: an evaluation of that step may still belong to it. */
  #held: LogRow | undefined;

  private constructor(private readonly warning: (text: string) => void) {}

  /** Opens the loggers, and writes to each what it lacks of the run's records. */
  static async open({ names, folder, env = process.env, message, warning }: LoggersRequest): Promise<RunLoggers> {
    const loggers = new RunLoggers(warning);
    if (names.length === 0) return loggers;
    try {
      const rows = await readRows(folder);
      loggers.#held = rows.pop();
      const context = { folder, config: await readRunConfig(folder), env, message, warning };
      loggers.#loggers = [...new Set(names)].map((name) => LOGGERS[name](context));
      await loggers.#each((logger) => logger.open(rows));
    } catch (error) {
      warning(`nothing is logged: ${reasonOf(error)}`);
    }
    return loggers;
  }

  /** A line of metrics.jsonl, which `commit` logs. */
  step(line: object, samples: readonly LogSample[] = []): void {
    Object.assign(this.#row.scalars, trainScalars(line));
    this.#row.samples = samples;
  }

  /** A line of evaluations.jsonl, which `commit` logs. */
  evaluation(line: object): void {
    Object.assign(this.#row.scalars, evaluationScalars(line));
  }

  /** A step is over, with all that belongs to it: it becomes one row. Without anything new, nothing happens. */
  async commit(step: number): Promise<void> {
    const row = { step, time: Date.now() / 1000, ...this.#row };
    this.#row = { scalars: {}, samples: [] };
    if (Object.keys(row.scalars).length === 0) return;
    if (this.#held?.step === step) row.scalars = { ...this.#held.scalars, ...row.scalars };
    else await this.#release();
    this.#held = undefined;
    await this.#each((logger) => logger.write(row));
  }

  /** @returns names of the loggers that everything has arrived at */
  async close(end: LogEnd): Promise<LoggerName[]> {
    await this.#release();
    const whole: LoggerName[] = [];
    await this.#each(async (logger) => void ((await logger.close(end)) && whole.push(logger.name)));
    this.#loggers = [];
    return whole;
  }

  async #release(): Promise<void> {
    const row = this.#held;
    this.#held = undefined;
    if (row) await this.#each((logger) => logger.write(row));
  }

  async #each(work: (logger: RunLogger) => Promise<void>): Promise<void> {
    const failed = new Set<RunLogger>();
    for (const logger of this.#loggers) {
      await work(logger).catch((error: unknown) => {
        failed.add(logger);
        this.warning(`logger ${logger.name} is off from here on: ${reasonOf(error)}`);
      });
    }
    this.#loggers = this.#loggers.filter((logger) => !failed.has(logger));
  }
}

/**
 * Logs the records of a finished run.
 *
 * @returns the loggers that they have arrived at
 * @throws {GrpoError} RUN_INVALID where the folder holds no run, IO_FAILED
 * @example
 * await logRun({ names: ['tensorboard'], folder: 'runs/NAME', message: console.log, warning: console.warn });
 */
export async function logRun(request: LoggersRequest): Promise<LoggerName[]> {
  await readRows(request.folder);
  return (await RunLoggers.open(request)).close('finished');
}
