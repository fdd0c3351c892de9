import { join, relative } from 'node:path';
import type { TrainInput } from '../config/index.js';
import { GrpoError } from '../errors.js';
import { replaceFolder, tableText } from '../run/index.js';
import type { EvaluationRecord, StepMetrics } from '../run/index.js';
import { evaluateNow } from './evaluations.js';
import { prepareRun } from './prepare.js';
import type { TrainOptions } from './prepare.js';
import type { RunContext, RunState, TrainResult } from './state.js';
import { runStep } from './step.js';
import { StepWarnings } from './warnings.js';

interface Progress {
  last: StepMetrics | undefined;
  evaluations: EvaluationRecord[];
  interrupted: boolean;
}

const isAborted = (error: unknown) => error instanceof GrpoError && error.code === 'ABORTED';

/** Steps and evaluations until the last step, the time limit, or a stop. */
async function loop(context: RunContext, state: RunState, progress: Progress): Promise<void> {
  const { config, modes, reporter } = context;
  const warnings = new StepWarnings();
  const started = performance.now();
  const stopped = () => context.stop.aborted;
  const evaluateModes = async (chosen: typeof modes) => {
    progress.evaluations.push(...(await evaluateNow(context, state, chosen)));
  };
  if (state.step === 0 && !stopped()) await evaluateModes(modes);
  while (state.step < config.steps && !stopped()) {
    const metrics = await runStep(context, state);
    if (metrics === undefined) break;
    progress.last = metrics;
    reporter.step(metrics, config.steps);
    warnings.check(metrics).forEach((warning) => reporter.warning(warning));
    const hours = (performance.now() - started) / 3_600_000;
    const overtime = config.maxHours !== undefined && hours >= config.maxHours;
    if (overtime) reporter.message(`maxHours ${config.maxHours} has passed: stopping after step ${state.step}`);
    const due = config.evalEvery > 0 && state.step % config.evalEvery === 0;
    const last = state.step === config.steps || overtime;
    if ((due || last) && !stopped()) await evaluateModes(modes.slice(-1));
    if (overtime) return;
  }
  progress.interrupted = state.step < config.steps;
}

function closingText(context: RunContext, state: RunState, progress: Progress): string {
  const first = progress.evaluations.filter((record) => record.step === 0);
  const final = progress.evaluations.filter((record) => record.step === state.step && record.step > 0);
  const table = first.length > 0 ? `${tableText(first, final)}\n` : '';
  const below = relative(process.cwd(), context.folder);
  const shown = below === '' || below.startsWith('..') ? context.folder : below;
  return `${table}run folder ${shown}, adapter in ${join(shown, 'adapter')}`;
}

/**
 * Trains a policy with GRPO: groups of episodes, advantages, one update a step, evaluations, and a run's folder with
 * everything in it.
 *
 * @param input the keys of docs/configuration.md
 * @param options own policy, signals, reporter
 * @throws {GrpoError} INVALID_CONFIG, RUN_EXISTS, INVALID_TASKS, EPISODES_INVALID, and what policy and sandbox throw
 * @example
 * const { run, metrics } = await train({ model: 'SmolLM2-135M-Instruct', tasks: 'tasks.jsonl', steps: 3 });
 */
export async function train(input: TrainInput, options: TrainOptions = {}): Promise<TrainResult> {
  const { context, close } = await prepareRun(input, options);
  const state: RunState = { step: 0, cursor: { drawn: 0 }, best: undefined };
  const progress: Progress = { last: undefined, evaluations: [], interrupted: false };
  const save = () => replaceFolder(join(context.folder, 'adapter'), (folder) => context.policy.saveAdapter(folder));
  try {
    try {
      await loop(context, state, progress);
    } catch (error) {
      if (!isAborted(error) || !context.stop.aborted) {
        // What was learned before the fault is worth keeping; the fault itself goes on.
        if (state.step > 0) await save();
        throw error;
      }
      progress.interrupted = true;
    }
    await save();
    context.reporter.closing(closingText(context, state, progress));
  } finally {
    await close();
  }
  const { last, evaluations, interrupted } = progress;
  return { run: context.folder, steps: state.step, metrics: last, evaluations, interrupted };
}
