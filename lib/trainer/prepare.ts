import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { holdOut, deriveSeed, shuffled } from '../algorithms/index.js';
import { effectiveConfig, resolveTrainConfig } from '../config/index.js';
import type { TrainConfig, TrainInput } from '../config/index.js';
import type { Task } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import { loadPolicy, resolveEnvironment } from '../launch/index.js';
import type { EnvironmentSource } from '../launch/index.js';
import type { PolicyLike } from '../policy/types.js';
import {
  configRecord,
  createRunFolder,
  defaultRunFolder,
  JsonLines,
  reporterFor,
  TrajectoryLog,
  writeConfigFile,
} from '../run/index.js';
import type { Reporter } from '../run/index.js';
import type { RunContext } from './state.js';

/** Beside the configuration: what a caller may bring. */
export interface TrainOptions {
  /** Train this policy instead of loading `model`; it is not closed. */
  policy?: PolicyLike;
  /** Stop after the present step, evaluated modes left out, and save. */
  stop?: AbortSignal;
  /** Stop now: the present step is dropped, and what was learned is saved. */
  signal?: AbortSignal;
  reporter?: Reporter;
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
  if (config.evalTasks === undefined) {
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

function openPolicy(config: TrainConfig, signal?: AbortSignal): Promise<PolicyLike> {
  const { adapter, device, dtype, train, lora, reference, maxContext, seed, strict } = config;
  // Only what was given: an adapter brings its own LoRA configuration.
  const given = adapter === undefined ? { lora } : { adapter };
  return loadPolicy(config.model, { device, dtype, train, ...given, reference, maxContext, seed, strict, signal });
}

/** A run that is ready to go, and how to put its parts away. */
export interface PreparedRun {
  context: RunContext;
  /** Closes what was opened here, in reverse order. */
  close: () => Promise<void>;
}

/**
 * Checks the configuration, opens environment and model, and makes the run's folder, in the order in which faults are
 * cheap to find.
 *
 * @throws {GrpoError} INVALID_CONFIG, RUN_EXISTS, INVALID_TASKS, and what the policy and the sandbox throw
 */
export async function prepareRun(input: TrainInput, options: TrainOptions): Promise<PreparedRun> {
  const config = resolveTrainConfig(input);
  if (options.policy === undefined && config.model === undefined) await openPolicy(config);
  if (config.output !== undefined && existsSync(config.output)) await createRunFolder(config.output);
  const reporter = options.reporter ?? reporterFor(config);
  const signal = options.signal ?? new AbortController().signal;
  const stop = options.stop ? AbortSignal.any([options.stop, signal]) : signal;
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const source = await resolveEnvironment({
      ...config,
      trainSubmissions: config.maxSubmissions,
      evaluationSubmissions: config.maxSubmissions === 0 ? 0 : 1,
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
    if (!options.policy) reporter.message(`loading ${config.model}`);
    const policy = options.policy ?? (await openPolicy(config, stop));
    if (!options.policy) closers.push(() => policy.close());
    const folder = await createRunFolder(config.output ?? defaultRunFolder(config.model ?? 'policy', new Date()));
    const maxTurns = config.maxTurns;
    const turns = maxTurns ?? source.open(source.modes.at(-1) ?? 'multi-tool', 'train').maxTurns;
    const tasks = { training: training.length, evaluation: evaluation.length, split };
    await writeConfigFile(folder, configRecord({ ...effectiveConfig(config), maxTurns: turns }, { tasks, modes }));
    return {
      close,
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
        signal,
        stop,
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
