import { stat, writeFile } from 'node:fs/promises';
import { resolveEvaluateConfig } from '../config/index.js';
import type { EvaluateConfig, EvaluateInput } from '../config/index.js';
import { GrpoError } from '../errors.js';
import { checkAdapter, loadPolicy, resolveEnvironment } from '../launch/index.js';
import type { EnvironmentSource } from '../launch/index.js';
import type { PolicyLike } from '../policy/types.js';
import { Limit } from '../rollout/index.js';
import {
  EpisodeFigures,
  evaluationLine,
  gains,
  packageVersion,
  reporterFor,
  tableRows,
  tableText,
  TRAINED_MODES,
} from '../run/index.js';
import type { EvaluationMode, EvaluationRecord, Reporter } from '../run/index.js';
import { EpisodeLog, fingerprint, type EpisodePlace } from './episode-log.js';
import { evaluateMode } from './evaluate-mode.js';

/** Beside the configuration: what a caller may bring. */
export interface EvaluateOptions {
  /** Evaluate this policy instead of loading `model`; it is not closed, and `adapter` must be left out. */
  policy?: PolicyLike;
  signal?: AbortSignal;
  reporter?: Reporter;
}

export interface EvaluateResult {
  /** An evaluation makes no run folder. */
  run: undefined;
  steps: 0;
  metrics: undefined;
  /** Baseline first, then those with the adapter. */
  evaluations: EvaluationRecord[];
  baseline: EvaluationRecord[];
  /** Empty without an adapter. */
  trained: EvaluationRecord[];
}

const MOST_EPISODES = 64;

interface Evaluation {
  config: EvaluateConfig;
  source: EnvironmentSource;
  reporter: Reporter;
  signal: AbortSignal;
  log: EpisodeLog | undefined;
}

/** An environment that keeps tasks for evaluations is evaluated on those. */
const evaluationTasks = ({ tasks, unseen }: EnvironmentSource) => unseen?.tasks ?? tasks;

async function evaluatePolicy(
  { config, source, reporter, signal, log }: Evaluation,
  policy: PolicyLike,
  modes: readonly EvaluationMode[],
  weights: EpisodePlace['weights'],
): Promise<EvaluationRecord[]> {
  const label = weights === 'base' ? 'baseline' : 'RL';
  const { temperature, topP, topK, minP, maxNewTokens, samples } = config;
  const tasks = evaluationTasks(source).slice(0, config.taskLimit);
  const limit = new Limit(config.concurrency ?? MOST_EPISODES);
  const records: EvaluationRecord[] = [];
  for (const mode of modes) {
    const environment = source.open(mode, 'eval');
    const figures = new EpisodeFigures();
    const { record } = await evaluateMode({
      policy,
      environment,
      tasks,
      mode,
      split: 'eval',
      step: 0,
      samples,
      k: [config.k].flat(),
      sampling: { temperature, topP, topK, minP, maxNewTokens },
      maxTurns: environment.maxTurns,
      testFeedback: config.maxSubmissions === 0,
      invalidLimit: config.invalidLimit,
      seed: config.seed,
      limit,
      signal,
      tasksExcluded: source.excluded,
      known: (task, sample) => log?.find({ weights, mode, task: task.id, sample }, task),
      onFinished: (episode, task, sample) => {
        log?.add({ weights, mode, task: task.id, sample }, episode);
        figures.finished(episode);
      },
      onTurn: (turn) => figures.turn(turn),
      onProgress: (done, total) =>
        reporter.progress({ label: `${label} ${mode}`, done, total, unit: 'episodes', facts: figures.facts() }),
    });
    records.push(record);
    reporter.evaluation(record, evaluationLine(record));
  }
  return records;
}

function chooseModes(config: EvaluateConfig, source: EnvironmentSource): readonly EvaluationMode[] {
  const wanted = config.modes ?? source.modes;
  const missing = wanted.find((mode) => !source.modes.includes(mode));
  if (missing === undefined) return wanted;
  const message = `mode ${missing} does not apply here: environment ${source.name} has ${source.modes.join(', ')}`;
  throw new GrpoError('INVALID_CONFIG', 'config', message);
}

async function withPolicy<T>(
  config: EvaluateConfig,
  adapter: string | undefined,
  use: (policy: PolicyLike) => Promise<T>,
) {
  const { model, device, dtype, maxContext, seed, strict } = config;
  const shared = { device, dtype, maxContext, seed, strict, train: 'none' as const };
  const policy = await loadPolicy(model, { ...shared, ...(adapter === undefined ? {} : { adapter }) });
  try {
    return await use(policy);
  } finally {
    await policy.close();
  }
}

/** Results are not written over a file that no evaluation left here, and never into a folder: said before hours of work. */
async function checkOutput(output: string, episodes: string): Promise<void> {
  const [found, log] = await Promise.all([output, episodes].map((path) => stat(path).catch(() => undefined)));
  if (found === undefined) return;
  if (found.isDirectory()) {
    throw new GrpoError('INVALID_CONFIG', 'config', `output must be a file, but ${output} is a folder`);
  }
  if (log !== undefined || !found.isFile() || found.size === 0) return;
  throw new GrpoError('RUN_EXISTS', 'evaluate', `${output} exists already: remove it, or choose another --output`);
}

/** The log of finished episodes beside `output`. */
async function openLog(
  config: EvaluateConfig,
  source: EnvironmentSource,
  modes: readonly EvaluationMode[],
): Promise<EpisodeLog | undefined> {
  if (config.output === undefined) return undefined;
  const { model, adapter, dtype, temperature, topP, topK, minP, maxNewTokens, maxContext, samples, seed } = config;
  const { maxSubmissions, maxNoCallTurns, callFormat, taskLimit } = config;
  const tasks = evaluationTasks(source)
    .slice(0, taskLimit)
    .map(({ id, prompt }) => [id, prompt]);
  const sampling = [dtype, temperature, topP, topK, minP, maxNewTokens, maxContext, samples, seed];
  const facts = [model, adapter, source.name, modes, tasks, sampling, maxSubmissions, maxNoCallTurns, callFormat];
  const path = `${config.output}.episodes.jsonl`;
  await checkOutput(config.output, path);
  return EpisodeLog.open(path, fingerprint(facts.map((fact) => fact ?? null)), config.resume);
}

async function writeResults(config: EvaluateConfig, baseline: EvaluationRecord[], trained: EvaluationRecord[]) {
  if (config.output === undefined) return;
  const marked = [
    ...baseline.map((record) => ({ weights: 'base', ...record })),
    ...trained.map((record) => ({ weights: 'adapter', ...record })),
  ];
  const environment = typeof config.environment === 'string' ? config.environment : config.environment.name;
  const results = {
    config: { ...config, environment },
    version: packageVersion(),
    evaluations: marked,
    table: tableRows(baseline, trained),
    gains: gains(baseline, trained),
  };
  await writeFile(config.output, `${JSON.stringify(results, undefined, 2)}\n`).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GrpoError('IO_FAILED', 'evaluate', `${config.output} cannot be written: ${reason}`, { cause: error });
  });
}

/**
 * pass@1 (pass@k) of a model in the modes of its environment, and again with an adapter where one is given.
 *
 * @throws {GrpoError} INVALID_CONFIG, INVALID_TASKS, EPISODES_INVALID, ABORTED, and what policy and sandbox throw
 * @example
 * const { baseline } = await evaluate({ model: 'SmolLM2-135M-Instruct', tasks: 'tasks.jsonl', modes: ['multi-tool'] });
 */
export async function evaluate(input: EvaluateInput, options: EvaluateOptions = {}): Promise<EvaluateResult> {
  const config = resolveEvaluateConfig(input);
  if (options.policy && config.adapter !== undefined) {
    throw new GrpoError('INVALID_CONFIG', 'config', 'adapter does not apply to a policy that is loaded already');
  }
  const reporter = options.reporter ?? reporterFor({ quiet: config.quiet || config.json, json: false });
  // Asks for a model before anything slow is opened.
  if (!options.policy && config.model === undefined) await loadPolicy(undefined, {});
  if (config.samples > 1 && config.temperature === 0) {
    reporter.message(`${config.samples} samples at temperature 0 are the same answer: give --temperature, 0.8 say`);
  }
  // The adapter comes last, and what is wrong with it first.
  if (config.adapter !== undefined) await checkAdapter(config.model!, config.adapter, options.signal);
  const source = await resolveEnvironment({
    ...config,
    trainSubmissions: config.maxSubmissions,
    evaluationSubmissions: config.maxSubmissions,
    distinctSearches: false,
    choose: { shuffleSeed: config.shuffleTasks ? config.seed : undefined, take: config.taskLimit },
    signal: options.signal,
    notice: (line) => reporter.message(line),
  });
  let log: EpisodeLog | undefined;
  try {
    const modes = chooseModes(config, source);
    log = await openLog(config, source, modes);
    if (log !== undefined && log.size > 0) reporter.message(`${log.size} episodes are kept of an earlier evaluation`);
    const evaluation = { config, source, reporter, signal: options.signal ?? new AbortController().signal, log };
    const onBase = (policy: PolicyLike) => evaluatePolicy(evaluation, policy, modes, 'base');
    const { adapter } = config;
    if (!options.policy) reporter.progress({ label: `loading ${config.model}` });
    const baseline = options.policy ? await onBase(options.policy) : await withPolicy(config, undefined, onBase);
    if (adapter !== undefined) reporter.progress({ label: `loading ${config.model} with ${adapter}` });
    const trainedModes = modes.filter((mode) => TRAINED_MODES.includes(mode));
    const trained =
      adapter === undefined
        ? []
        : await withPolicy(config, adapter, (policy) => evaluatePolicy(evaluation, policy, trainedModes, 'adapter'));
    await writeResults(config, baseline, trained);
    reporter.closing(tableText(baseline, trained));
    return { run: undefined, steps: 0, metrics: undefined, evaluations: [...baseline, ...trained], baseline, trained };
  } finally {
    reporter.idle();
    await source.close();
    await log?.flush();
  }
}
