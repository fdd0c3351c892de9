import { join, relative } from 'node:path';
import { effectiveConfig } from '../config/index.js';
import type { TrainConfig, TrainInput } from '../config/index.js';
import { GrpoError } from '../errors.js';
import type { LogEnd } from '../loggers/index.js';
import { configRecord, readRun, stepLine, tableText, TRAINED_MODES } from '../run/index.js';
import type { EvaluationMode, EvaluationRecord } from '../run/index.js';
import { evaluateNow } from './evaluations.js';
import { prepareRun } from './prepare.js';
import type { TrainOptions } from './prepare.js';
import { Saving } from './saving.js';
import type { RunContext, RunState, TrainResult } from './state.js';
import { runStep } from './step.js';
import { StepAlarms } from './alarms.js';

const isAborted = (error: unknown) => error instanceof GrpoError && error.code === 'ABORTED';

/** Why a run ends before its last step; undefined while it goes on. */
function earlyEnd({ config }: RunContext, state: RunState, started: number): string | undefined {
  const hours = (performance.now() - started) / 3_600_000;
  if (config.maxHours !== undefined && hours >= config.maxHours) {
    return `maxHours ${config.maxHours} has passed: stopping after step ${state.step}`;
  }
  if (config.patience !== undefined && state.sinceBest >= config.patience) {
    const { step } = state.best ?? { step: 0 };
    return `no better evaluation since step ${step}, ${state.sinceBest} in a row: stopping after step ${state.step}`;
  }
  return undefined;
}

function isEvaluationDue({ config }: RunContext, state: RunState, isEnding: boolean): boolean {
  if (state.evaluated === state.step) return false;
  if (state.step === 0 || state.step >= config.steps || isEnding) return true;
  return config.evalEvery > 0 && state.step % config.evalEvery === 0;
}

/** All modes at the start, those of the table after training at the end, the full one on the way. */
function modesNow({ config, modes }: RunContext, state: RunState, isEnding: boolean): readonly EvaluationMode[] {
  if (state.step === 0) return modes;
  if (state.step < config.steps && !isEnding) return modes.slice(-1);
  return modes.filter((mode) => TRAINED_MODES.includes(mode) || mode === modes.at(-1));
}

/**
 * Steps, evaluations and checkpoints until the last step, an early end, or a stop.
 *
 * @returns whether it was stopped
 */
async function loop(context: RunContext, state: RunState, saving: Saving<RunState>): Promise<boolean> {
  const { config, reporter, stop } = context;
  const alarms = new StepAlarms(config.alarms);
  const started = performance.now();
  let ending: string | undefined;
  for (;;) {
    if (isEvaluationDue(context, state, ending !== undefined)) {
      if (stop.aborted) return true;
      await evaluateNow(context, state, modesNow(context, state, ending !== undefined));
      await saving.afterEvaluation(state);
      if (state.step === 0) context.clock.restart();
      else context.clock.step();
      await context.loggers.commit(state.step);
      ending ??= state.step > 0 ? earlyEnd(context, state, started) : undefined;
    }
    if (state.step >= config.steps) return false;
    if (ending !== undefined) {
      reporter.message(ending);
      return false;
    }
    if (stop.aborted) return true;
    const metrics = await runStep(context, state, alarms);
    if (metrics === undefined) return true;
    reporter.step(metrics, stepLine(metrics, config.steps));
    alarms.texts(metrics).forEach((text) => reporter.warning(text));
    await saving.afterStep(state);
    ending = earlyEnd(context, state, started);
    if (isEvaluationDue(context, state, ending !== undefined)) continue;
    context.clock.step();
    await context.loggers.commit(state.step);
  }
}

/** Every part of the run is named, none an object: a command can go on with it. */
const isNamed = ({ model, environment, tools = [], rewards = [] }: TrainConfig) =>
  [model, environment, ...tools, ...rewards].every((part) => typeof part === 'string');

function closingText(
  context: RunContext,
  state: RunState,
  evaluations: readonly EvaluationRecord[],
  isDrawn: boolean,
  interrupted: boolean,
): string {
  const first = evaluations.filter((record) => record.step === 0);
  const final = evaluations.filter((record) => record.step === state.step && record.step > 0);
  const table = first.length > 0 ? `${tableText(first, final)}\n` : '';
  const below = relative(process.cwd(), context.folder);
  const shown = below === '' || below.startsWith('..') ? context.folder : below;
  const weights = context.config.train === 'full' ? 'model' : 'adapter';
  const lines = [`${weights.padEnd(7)}  ${join(shown, 'adapter')}`];
  if (isDrawn) lines.push(`page     ${join(shown, 'report.html')}`, `picture  ${join(shown, 'report.png')}`);
  if (interrupted && isNamed(context.config)) lines.push(`go on    grpo-native train --resume ${shown || '.'}`);
  return `${table}${lines.join('\n')}`;
}

/** The page and picture of the run, and whether they are there; a run is not lost for them. */
async function drawReport({ folder, policy, reporter }: RunContext): Promise<boolean> {
  try {
    const { writeReport } = await import('../report/index.js');
    await writeReport(folder, { tokenizer: policy.tokenizer });
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    reporter.warning(
      `report.html and report.png could not be drawn: ${reason}; grpo-native report ${folder} tries again`,
    );
    return false;
  }
}

/** What was learned before a fault is worth keeping; the fault itself is what is told. */
async function saveAfterFault(context: RunContext, state: RunState, saving: Saving<RunState>): Promise<void> {
  if (state.step === 0) return;
  await saving.finish(state).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    context.reporter.warning(`the state after step ${state.step} could not be saved: ${reason}`);
  });
}

/**
 * Trains a policy with GRPO: groups of episodes, advantages, one update a step, evaluations, checkpoints, and a run's folder
 * with everything in it. With `resume` it goes on with an earlier run.
 *
 * @param input the keys of docs/configuration.md
 * @param options own policy, signals, reporter
 * @throws {GrpoError} INVALID_CONFIG, RUN_EXISTS, RUN_INVALID, RUN_LOCKED, INVALID_TASKS, EPISODES_INVALID, IO_FAILED, and
 *   what policy and sandbox throw
 * @example
 * const { run, metrics } = await train({ model: 'SmolLM2-135M-Instruct', tasks: 'tasks.jsonl', steps: 3 });
 */
export async function train(input: TrainInput, options: TrainOptions = {}): Promise<TrainResult> {
  if (typeof input !== 'object' || input === null) {
    throw new GrpoError('INVALID_CONFIG', 'train', `the configuration must be an object, got ${String(input)}`);
  }
  const { context, state, resumed, close } = await prepareRun(input, options);
  const stored = configRecord(effectiveConfig(context.config), {})['config'] as Record<string, unknown>;
  const saving = new Saving<RunState>({ ...context, stored }, resumed ? state.step : undefined);
  let interrupted: boolean;
  let end: LogEnd = 'failed';
  try {
    await options.onFolder?.(context.folder);
    try {
      interrupted = await loop(context, state, saving);
    } catch (error) {
      if (!isAborted(error) || !context.stop.aborted) {
        await saveAfterFault(context, state, saving);
        throw error;
      }
      interrupted = true;
    }
    await saving.finish(state);
    end = interrupted ? 'interrupted' : 'finished';
    const isDrawn = await drawReport(context);
    const { metrics, evaluations } = await readRun(context.folder);
    context.reporter.closing(closingText(context, state, evaluations, isDrawn, interrupted));
    const { folder: run } = context;
    context.reporter.ended({ run, steps: state.step, adapter: join(run, 'adapter'), interrupted });
    return { run, steps: state.step, metrics: metrics.at(-1), evaluations, interrupted };
  } finally {
    context.reporter.idle();
    await context.loggers.commit(state.step);
    await context.loggers.close(end);
    await close();
  }
}
