import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { holdOut, deriveSeed, shuffled } from '../algorithms/index.js';
import { mergeTrainInputs, orDemo, resolveTrainConfig, restoreTrainConfig } from '../config/index.js';
import { presetNotes } from '../config/preset-notes.js';
import type { TrainConfig, TrainInput } from '../config/index.js';
import type { Task } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import { resolveEnvironment } from '../launch/index.js';
import type { EnvironmentSource } from '../launch/index.js';
import { RunLoggers } from '../loggers/index.js';
import type { LoadOptions } from '../policy/types.js';
import { createRunFolder, JsonLines, reporterFor, TrajectoryLog } from '../run/index.js';
import type { Reporter } from '../run/index.js';
import { loadTrained } from './load-trained.js';
import { cutToState, freshState, openNewRun, openOldRun, writeRunConfig } from './open-run.js';
import { resumedConfig } from './resume.js';
import type { ResumedConfig } from './resume.js';
import { RunClock } from './run-clock.js';
import type { RunContext, RunState, TrainablePolicy } from './state.js';

/** Beside the configuration: what a caller may bring. */
export interface TrainOptions {
  /** Train this policy instead of loading `model`; it is not closed. */
  policy?: TrainablePolicy;
  /** Loads the policy in place of `Policy.load`; with `resume` among the options when a run goes on. */
  loadPolicy?: (model: string | undefined, options: LoadOptions) => Promise<TrainablePolicy>;
  /** Stop after the present step, evaluated modes left out, and save. */
  stop?: AbortSignal;
  /** Stop now: the present step is dropped, and what was learned is saved. */
  signal?: AbortSignal;
  reporter?: Reporter;
  /** Called with the run's folder once it is there, before the first step. */
  onFolder?: (folder: string) => void | Promise<void>;
}

const MOST_EPISODES = 64;

interface Split {
  training: readonly Task[];
  evaluation: readonly Task[];
  split: string;
  heldOut: boolean;
}

async function splitTasks(config: TrainConfig, source: EnvironmentSource): Promise<Split> {
  let split: Split;
  if (config.evalTasks === undefined && source.unseen !== undefined) {
    split = { training: source.tasks, evaluation: source.unseen.tasks, split: source.unseen.split, heldOut: false };
  } else if (config.evalTasks === undefined) {
    split = { ...holdOut(source.tasks, config.seed), split: 'held-out', heldOut: true };
  } else {
    const evaluation = await source.loadTasks(config.evalTasks);
    split = { training: source.tasks, evaluation, split: 'eval', heldOut: false };
  }
  if (config.taskLimit === undefined) return split;
  return { ...split, training: shuffled(split.training, deriveSeed(config.seed, 'limit')).slice(0, config.taskLimit) };
}

function chooseModes(config: TrainConfig, source: EnvironmentSource): RunContext['modes'] {
  const wanted = config.evalModes ?? source.modes;
  const missing = wanted.find((mode) => !source.modes.includes(mode));
  if (missing === undefined) return wanted;
  const message = `evalModes ${missing} does not apply here: environment ${source.name} has ${source.modes.join(', ')}`;
  throw new GrpoError('INVALID_CONFIG', 'config', message);
}

async function readConfig(
  input: TrainInput,
  options: TrainOptions,
): Promise<Partial<ResumedConfig> & { config: TrainConfig }> {
  if (input.resume === undefined) {
    return { config: resolveTrainConfig(options.policy ? input : orDemo(mergeTrainInputs(input))) };
  }
  if (options.policy) {
    const message = 'resume does not apply to a policy that is loaded already; give loadPolicy instead of policy';
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  return resumedConfig(mergeTrainInputs(input), restoreTrainConfig);
}

/** Episodes are chats. */
function requireChat({ tokenizer }: TrainablePolicy, model: string | undefined): void {
  if (tokenizer?.hasChatTemplate) return;
  const lacks = tokenizer === undefined ? 'tokenizer' : 'chat template';
  const message = `${model ?? 'the policy'} has no ${lacks}, which episodes need; use an instruct model's folder, or add its files`;
  throw new GrpoError('INVALID_TOKENIZER', 'train', message);
}

/** A run that is ready to go, and how to put its parts away. */
export interface PreparedRun {
  context: RunContext;
  state: RunState;
  /** The state comes from a checkpoint. */
  resumed: boolean;
  /** Closes what was opened here, in reverse order. */
  close: () => Promise<void>;
}

/**
 * Checks the configuration, opens environment and model, and makes the run's folder (or finds where an earlier run goes
 * on), in the order in which faults are cheap to find.
 *
 * @throws {GrpoError} INVALID_CONFIG, RUN_EXISTS, RUN_INVALID, RUN_LOCKED, INVALID_TASKS, and what policy and sandbox throw
 */
export async function prepareRun(input: TrainInput, options: TrainOptions): Promise<PreparedRun> {
  const { config, ...resumed } = await readConfig(input, options);
  const isNew = resumed.folder === undefined;
  if (options.policy === undefined && config.model === undefined) await loadTrained(config, undefined, options);
  if (isNew && config.output !== undefined && existsSync(config.output)) await createRunFolder(config.output);
  const reporter = options.reporter ?? reporterFor(config);
  const signal = options.signal ?? new AbortController().signal;
  const stop = options.stop ? AbortSignal.any([options.stop, signal]) : signal;
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    presetNotes(config.preset).forEach((note) => reporter.message(note));
    const source = await resolveEnvironment({
      ...config,
      trainSubmissions: config.maxSubmissions,
      evaluationSubmissions: config.maxSubmissions === 0 ? 0 : 1,
      notice: (line) => reporter.message(line),
    });
    closers.push(source.close);
    const modes = chooseModes(config, source);
    const { training, evaluation, split, heldOut } = await splitTasks(config, source);
    if (heldOut) {
      reporter.message(`${training.length} tasks for training, ${evaluation.length} held out for evaluation`);
    }
    if (config.groupSize < 4) {
      reporter.warning(`groupSize ${config.groupSize} is small: most groups will have equal rewards; use 4 or more`);
    }
    const old = isNew ? undefined : await openOldRun(resumed as ResumedConfig, freshState(training), reporter);
    if (old) closers.push(old.release);
    if (!options.policy) {
      reporter.message(`loading ${config.model}`);
      reporter.progress({ label: 'loading' });
    }
    const policy = options.policy ?? (await loadTrained(config, old?.checkpoint, options, stop));
    if (!options.policy) closers.push(() => policy.close());
    // Before the run's folder exists: a start that fails must not occupy its name.
    requireChat(policy, config.model);
    const run = old ?? (await openNewRun(config, freshState(training)));
    if (!old) closers.push(run.release);
    const { folder, state } = run;
    const maxTurns = config.maxTurns;
    const turns = maxTurns ?? source.open(source.modes.at(-1) ?? 'multi-tool', 'train').maxTurns;
    const tasks = { training: training.length, evaluation: evaluation.length, split };
    if (old) await cutToState(old);
    if (isNew || resumed.changed?.length) await writeRunConfig(folder, config, { maxTurns: turns, tasks, modes });
    reporter.run(folder, state.step);
    const loggers = await RunLoggers.open({ names: config.loggers ?? [], folder, ...reporter });
    return {
      close,
      state,
      resumed: run.checkpoint !== undefined,
      context: {
        config,
        folder,
        policy,
        source,
        maxTurns,
        training,
        evaluation,
        split,
        modes,
        concurrency: config.concurrency ?? Math.min(MOST_EPISODES, config.promptsPerStep * config.groupSize),
        metrics: new JsonLines(join(folder, 'metrics.jsonl')),
        evaluations: new JsonLines(join(folder, 'evaluations.jsonl')),
        trajectories: new TrajectoryLog(folder),
        reporter,
        clock: new RunClock(),
        loggers,
        signal,
        stop,
      },
    };
  } catch (error) {
    reporter.idle();
    await close();
    throw error;
  }
}
