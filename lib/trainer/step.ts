import { groupAdvantages, learningRateFactor, nextTasks, selectRows } from '../algorithms/index.js';
import type { GroupAdvantages } from '../algorithms/index.js';
import { GrpoError } from '../errors.js';
import { samplesOf } from '../loggers/index.js';
import type { SessionRow, UpdateRow, UpdateStats } from '../policy/types.js';
import { Limit, runGroups } from '../rollout/index.js';
import type { Episode } from '../rollout/index.js';
import { checkInvalidShare, EpisodeFigures, markLogs, stepMetrics, trajectory } from '../run/index.js';
import type { StepMetrics } from '../run/index.js';
import type { StepAlarms } from './alarms.js';
import type { RunContext, RunState } from './state.js';

const EMPTY_ROW: SessionRow = {
  ids: new Int32Array(0),
  mask: new Uint8Array(0),
  samplerLogprobs: new Float32Array(0),
};

/** Learning rate of a step, 1-based. */
export function learningRateAt(context: RunContext, step: number): number {
  const { optimizer, schedule, warmupSteps, steps } = context.config;
  return optimizer.learningRate * learningRateFactor(step, { schedule, warmupSteps, steps });
}

/** The batches of a step one after the other, all with the same weights; together they make one update. */
async function sampleGroups(context: RunContext, step: number, drawn: RunState['cursor']): Promise<Episode[][]> {
  const { config, policy, source, reporter, clock, training } = context;
  const environment = source.open(source.modes.at(-1) ?? 'multi-tool', 'train');
  const { temperature, topP, topK, minP, maxNewTokens, gradientAccumulation: batches } = config;
  const groups: Episode[][] = [];
  for (let batch = 0; batch < batches && !context.signal.aborted; batch++) {
    const label = `step ${step}/${config.steps}${batches === 1 ? '' : `, batch ${batch + 1}/${batches}`}`;
    const figures = new EpisodeFigures();
    let count = { done: 0, total: 0 };
    const tell = () => {
      const leftSeconds = clock.secondsLeft(config.steps - step + 1);
      reporter.progress({ label, ...count, unit: 'episodes', facts: figures.facts(), leftSeconds });
    };
    const sampled = await runGroups({
      policy,
      environment,
      tasks: nextTasks(training, drawn, config.promptsPerStep, config.seed),
      samples: config.groupSize,
      sampling: { temperature, topP, topK, minP, maxNewTokens },
      maxTurns: context.maxTurns ?? environment.maxTurns,
      purpose: 'train',
      seedParts: [config.seed, 'training', step, ...(batch === 0 ? [] : [`batch ${batch}`])],
      limit: new Limit(context.concurrency),
      signal: context.signal,
      onTurn: (turn) => {
        figures.turn(turn);
        tell();
      },
      onFinished: (episode) => figures.finished(episode),
      onProgress: (done, total) => {
        count = { done, total };
        tell();
      },
    });
    groups.push(...sampled);
  }
  return groups;
}

/** One update over the whole batch; undefined where nothing is left to train on: the optimizer then does not step. */
async function update(context: RunContext, rows: UpdateRow[], learningRate: number): Promise<UpdateStats | undefined> {
  const { config, policy, signal } = context;
  if (rows.length === 0) return undefined;
  const { correction, ...loss } = config.loss;
  return policy.update({
    rows,
    loss: { ...loss, ...(correction?.kind ? { correction: { ...correction, kind: correction.kind } } : {}) },
    optimizer: { ...config.optimizer, learningRate },
    microBatchTokens: config.microBatchTokens,
    signal,
  });
}

async function log(context: RunContext, step: number, groups: Episode[][], scored: GroupAdvantages[]): Promise<void> {
  await context.trajectories.append(
    groups.flatMap((group, index) =>
      group.map((episode, sample) =>
        trajectory(episode, { step, group: index, sample, advantage: scored[index]?.advantages[sample] ?? 0 }),
      ),
    ),
  );
}

/**
 * One training step: sample P groups of G episodes, score, make advantages, update once, log. The state moves on only
 * when all of it is done.
 *
 * @returns undefined when the signal fired on the way: nothing was changed or logged then
 * @throws {GrpoError} EPISODES_INVALID above the limit, and what the policy throws
 */
export async function runStep(
  context: RunContext,
  state: RunState,
  alarms: StepAlarms,
): Promise<StepMetrics | undefined> {
  const { config, policy, source, signal } = context;
  const step = state.step + 1;
  const drawn = { ...state.cursor };
  const started = performance.now();
  const groups = await sampleGroups(context, step, drawn);
  if (signal.aborted) return undefined;
  const sampledAt = performance.now();

  const scoredRows = groups.map((group) =>
    group.map((episode) => ({ row: episode.row ?? EMPTY_ROW, reward: episode.reward?.value ?? null })),
  );
  const rewards = scoredRows.map((group) => group.map((entry) => entry.reward));
  const scored = groupAdvantages(rewards, config.advantage);
  const { constantGroups, temperature } = config;
  const selection = selectRows(scoredRows, scored, { constantGroups, temperature });
  const invalid = () => checkInvalidShare(groups.flat(), config.invalidLimit, 'train');
  try {
    invalid();
  } catch (error) {
    await log(context, step, groups, scored);
    throw error;
  }

  const learningRate = learningRateAt(context, step);
  if (selection.rows.length > 0) {
    const tokens = selection.rows.reduce((sum, { ids }) => sum + ids.length, 0);
    context.reporter.progress({
      label: `step ${step}/${config.steps}: update`,
      facts: [`${selection.rows.length} rows`, `${tokens} tokens`],
      leftSeconds: context.clock.secondsLeft(config.steps - step + 1),
    });
  }
  const stats = await update(context, selection.rows, learningRate).catch((error: unknown) => {
    if (signal.aborted && error instanceof GrpoError && error.code === 'ABORTED') return 'aborted' as const;
    throw error;
  });
  if (stats === 'aborted') return undefined;
  const ended = performance.now();

  const skipped = state.skipped + (stats?.skipped ? 1 : 0);
  const metrics = stepMetrics({
    step,
    seconds: (ended - started) / 1000,
    rolloutSeconds: (sampledAt - started) / 1000,
    updateSeconds: stats ? (ended - sampledAt) / 1000 : 0,
    groups,
    constantGroups: selection.constantGroups,
    tools: source.open(source.modes.at(-1) ?? 'multi-tool', 'train').tools.map((tool) => tool.name),
    learningRate,
    stats,
    weightsVersion: policy.weightsVersion,
    skippedSteps: skipped,
  });
  metrics.alarms = alarms.names(metrics);
  await log(context, step, groups, scored);
  await context.metrics.append(metrics);
  context.loggers.step(metrics, samplesOf(groups));
  state.step = step;
  state.skipped = skipped;
  state.cursor = drawn;
  state.logs = await markLogs(context.folder);
  return metrics;
}
