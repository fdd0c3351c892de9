import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { holdOut } from '../../algorithms/index.js';
import { mergeSftInputs, resolveSftConfig, restoreSftConfig } from '../../config/index.js';
import type { SftConfig, SftInput } from '../../config/index.js';
import { GrpoError } from '../../errors.js';
import { RunLoggers } from '../../loggers/index.js';
import type { LogEnd } from '../../loggers/index.js';
import { Tokenizer } from '../../tokenizer/index.js';
import { configRecord, createRunFolder, EMPTY_LOGS, JsonLines, reporterFor, writeConfigFile } from '../../run/index.js';
import type { Reporter } from '../../run/index.js';
import { cutToState, openNewRun, openOldRun } from '../open-run.js';
import type { OpenedRun } from '../open-run.js';
import { loadTrained } from '../load-trained.js';
import type { TrainOptions } from '../prepare.js';
import { resumedConfig } from '../resume.js';
import { RunClock } from '../run-clock.js';
import type { ResumedConfig } from '../resume.js';
import { Saving } from '../saving.js';
import { learnStep, totalRows, validate } from './learn.js';
import type { SftContext } from './learn.js';
import type { SftMetrics, SftState, SftValidation } from './records.js';
import { readSftRows, rowsDigest } from './rows.js';
import type { SftRow, SftRows } from './rows.js';

export interface SftResult {
  /** The run's folder. */
  run: string;
  /** Updates that are done. */
  steps: number;
  /** The last step's line; undefined when no step was done. */
  metrics: SftMetrics | undefined;
  evaluations: SftValidation[];
  /** The run was stopped before its last step. */
  interrupted: boolean;
}

const SMALLEST_SPLIT = 10;

async function readConfig(input: SftInput, options: TrainOptions): Promise<Partial<ResumedConfig<SftConfig>>> {
  if (input.resume === undefined) return { config: resolveSftConfig(input) };
  if (options.policy) {
    const message = 'resume does not apply to a policy that is loaded already; give loadPolicy instead of policy';
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  return resumedConfig(mergeSftInputs(input), restoreSftConfig);
}

function tellLeftOut({ leftOut }: SftRows, path: string, reporter: Reporter): void {
  for (const [reason, times] of Object.entries(leftOut)) reporter.warning(`${path}: ${times} rows left out: ${reason}`);
}

interface SplitRows {
  training: readonly SftRow[];
  validation: readonly SftRow[];
  split: SftValidation['split'];
}

async function readData(config: SftConfig, options: TrainOptions, reporter: Reporter): Promise<SplitRows> {
  const { data, validation, minReward, maxContext, seed, model } = config;
  if (data === undefined) throw new GrpoError('INVALID_CONFIG', 'config', 'data is needed: give --data FILE (JSONL)');
  const isFolder = model !== undefined && existsSync(model);
  const tokenizer = options.policy?.tokenizer ?? (isFolder ? await Tokenizer.loadIfPresent(model) : undefined);
  const known = tokenizer ?? (model === undefined || isFolder ? undefined : await Tokenizer.load(model));
  const read = async (path: string, least?: number) => {
    const found = await readSftRows(path, {
      tokenizer: known,
      maxContext: Math.min(maxContext ?? Infinity, options.policy?.maxContext ?? Infinity),
      minReward: least,
    });
    tellLeftOut(found, path, reporter);
    return found.rows;
  };
  const rows = await read(data, minReward);
  if (validation !== undefined) return { training: rows, validation: await read(validation), split: 'validation' };
  if (rows.length < SMALLEST_SPLIT) return { training: rows, validation: [], split: 'held-out' };
  const held = holdOut(rows, seed);
  return { training: held.training, validation: held.evaluation, split: 'held-out' };
}

/** Found before the first step rather than in the middle of an epoch. */
function checkLengths({ training, validation }: SplitRows, maxContext: number): void {
  const long = [...training, ...validation].filter(({ ids }) => ids.length > maxContext).length;
  if (long === 0) return;
  const message = `${long} rows are longer than the model's context; give maxContext ${maxContext} to leave them out`;
  throw new GrpoError('CONTEXT_EXCEEDED', 'sft', message);
}

async function loop(context: SftContext, state: SftState, saving: Saving<SftState>): Promise<boolean> {
  const { config, reporter, stop, steps } = context;
  const started = performance.now();
  const clock = new RunClock();
  let isShortOfMemory = false;
  for (;;) {
    const hours = (performance.now() - started) / 3_600_000;
    const isLate = config.maxHours !== undefined && hours >= config.maxHours;
    const scheduled = config.evalEvery > 0 && state.step % config.evalEvery === 0;
    const isDue = state.step === 0 || state.step >= steps || isLate || scheduled;
    if (isDue && state.evaluated !== state.step && context.validation.length > 0) {
      if (stop.aborted) return true;
      reporter.progress({ label: 'validation', facts: [`${context.validation.length} rows`] });
      const record = await validate(context, state);
      reporter.evaluation(
        record,
        `validation  step ${state.step}  loss ${record.loss.toFixed(4)}  perplexity ${record.perplexity.toPrecision(4)}`,
      );
      await saving.afterEvaluation(state);
    }
    await context.loggers.commit(state.step);
    if (state.step >= steps) return false;
    if (config.patience !== undefined && state.sinceBest >= config.patience) {
      reporter.message(`no better validation since step ${state.best?.step}: stopping after step ${state.step}`);
      return false;
    }
    if (isLate) {
      reporter.message(`maxHours ${config.maxHours} has passed: stopping after step ${state.step}`);
      return false;
    }
    if (stop.aborted) return true;
    const leftSeconds = clock.secondsLeft(steps - state.step);
    reporter.progress({ label: 'sft', done: state.step, total: steps, unit: 'steps', leftSeconds });
    const line = await learnStep(context, state);
    const told = line.skipped === null ? `loss ${line.loss?.toFixed(4)}` : `no update: ${line.skipped}`;
    clock.step();
    reporter.step(
      line,
      `step ${line.step}/${steps}  epoch ${line.epoch.toFixed(2)}  ${told}  ${line.seconds.toFixed(1)} s`,
    );
    if (line.memory_note !== null && !isShortOfMemory) reporter.warning(`step ${line.step}: ${line.memory_note}`);
    isShortOfMemory = line.memory_note !== null;
    await saving.afterStep(state);
  }
}

async function readLog<T>(path: string): Promise<T[]> {
  if (!existsSync(path)) return [];
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

async function learn(context: SftContext, state: SftState, saving: Saving<SftState>): Promise<SftResult> {
  let interrupted: boolean;
  try {
    interrupted = await loop(context, state, saving);
  } catch (error) {
    if (!(error instanceof GrpoError && error.code === 'ABORTED' && context.stop.aborted)) throw error;
    interrupted = true;
  }
  await saving.finish(state);
  const { folder, reporter } = context;
  reporter.closing(
    `run folder ${relative(process.cwd(), folder) || '.'}, trained weights in ${join(folder, 'adapter')}`,
  );
  reporter.ended({ run: folder, steps: state.step, adapter: join(folder, 'adapter'), interrupted });
  return {
    run: folder,
    steps: state.step,
    metrics: (await readLog<SftMetrics>(join(folder, 'metrics.jsonl'))).at(-1),
    evaluations: await readLog<SftValidation>(join(folder, 'evaluations.jsonl')),
    interrupted,
  };
}

/**
 * Supervised training on conversations, token rows or the trajectories of a run: only what assistants wrote is learned. Same
 * folder, checkpoints and resume as {@link train}.
 *
 * @throws {GrpoError} INVALID_CONFIG, INVALID_TASKS, RUN_EXISTS, RUN_INVALID, RUN_LOCKED, IO_FAILED, and what the policy throws
 * @example
 * const { run, evaluations } = await sft({ model: 'SmolLM2-135M-Instruct', data: 'conversations.jsonl', epochs: 2 });
 */
export async function sft(input: SftInput, options: TrainOptions = {}): Promise<SftResult> {
  const { config, ...resumed } = (await readConfig(input, options)) as Partial<ResumedConfig> & { config: SftConfig };
  const isNew = resumed.folder === undefined;
  if (isNew && config.output !== undefined && existsSync(config.output)) await createRunFolder(config.output);
  const reporter = options.reporter ?? reporterFor(config);
  const signal = options.signal ?? new AbortController().signal;
  const stop = options.stop ? AbortSignal.any([options.stop, signal]) : signal;
  const data = await readData(config, options, reporter);
  const fresh: SftState = {
    step: 0,
    cursor: { drawn: 0 },
    best: undefined,
    evaluated: undefined,
    sinceBest: 0,
    logs: EMPTY_LOGS,
    tasks: rowsDigest(data.training),
  };
  const steps = Math.ceil(totalRows(config, data.training.length) / config.batchRows);
  const stored = configRecord({ ...config, resume: undefined, override: undefined }, {});
  let run: OpenedRun<SftState> | undefined;
  let policy: SftContext['policy'] | undefined;
  let loggers: RunLoggers | undefined;
  let end: LogEnd = 'failed';
  try {
    if (!isNew)
      run = await openOldRun({ folder: String(resumed.folder), changed: resumed.changed ?? [] }, fresh, reporter);
    policy = options.policy ?? (await loadTrained({ ...config, reference: 'start' }, run?.checkpoint, options, stop));
    checkLengths(data, policy.maxContext);
    const opened = (run ??= await openNewRun(config, fresh));
    const { folder, state, checkpoint } = opened;
    if (!isNew) await cutToState(opened);
    if (isNew || resumed.changed?.length) await writeConfigFile(folder, { kind: 'sft', ...stored });
    const held = data.validation.length === 0 ? 'no validation' : `${data.validation.length} to validate`;
    reporter.run(folder, state.step);
    loggers = await RunLoggers.open({ names: config.loggers ?? [], folder, ...reporter });
    reporter.message(`${data.training.length} rows to learn, ${held}: ${steps} updates`);
    const context: SftContext = {
      ...data,
      config,
      folder,
      policy,
      steps,
      metrics: new JsonLines(join(folder, 'metrics.jsonl')),
      evaluations: new JsonLines(join(folder, 'evaluations.jsonl')),
      reporter,
      loggers,
      signal,
      stop,
    };
    const kept = { folder, policy, config, stored: stored['config'] as Record<string, unknown> };
    const result = await learn(context, state, new Saving(kept, checkpoint === undefined ? undefined : state.step));
    end = result.interrupted ? 'interrupted' : 'finished';
    return result;
  } finally {
    reporter.idle();
    await loggers?.close(end);
    if (!options.policy) await policy?.close();
    await run?.release();
  }
}
