import { learningRateFactor, nextTasks } from '../../algorithms/index.js';
import type { SftConfig } from '../../config/index.js';
import type { RunLoggers } from '../../loggers/index.js';
import { markLogs } from '../../run/index.js';
import type { JsonLines, Reporter } from '../../run/index.js';
import { saveWeights } from '../saving.js';
import type { TrainablePolicy } from '../state.js';
import type { SftMetrics, SftState, SftValidation } from './records.js';
import type { SftRow } from './rows.js';

/** What stays the same while an `sft` run goes on. */
export interface SftContext {
  config: SftConfig;
  folder: string;
  policy: TrainablePolicy;
  training: readonly SftRow[];
  /** Empty: no validation. */
  validation: readonly SftRow[];
  split: SftValidation['split'];
  /** Updates of the whole run. */
  steps: number;
  metrics: JsonLines;
  evaluations: JsonLines;
  reporter: Reporter;
  loggers: RunLoggers;
  signal: AbortSignal;
  stop: AbortSignal;
}

/** Rows of one call for log-probs. */
const CHUNK_ROWS = 16;

/** Rows that a run learns in all. */
export const totalRows = (config: SftConfig, rows: number) => Math.max(1, Math.round(config.epochs * rows));

/**
 * One update on the next rows. Cross-entropy is the policy loss at ratio 1 and advantage 1: its gradient is that of the mean
 * negative log-likelihood. The likelihood itself is the gap to a sampler that was sure of every token.
 *
 * @throws {GrpoError} ABORTED, and what the policy throws
 */
export async function learnStep(context: SftContext, state: SftState): Promise<SftMetrics> {
  const { config, policy, training, signal } = context;
  const started = performance.now();
  const cursor = { ...state.cursor };
  const left = totalRows(config, training.length) - cursor.drawn;
  const rows = nextTasks(training, cursor, Math.min(config.batchRows, left), config.seed);
  const { schedule, warmupSteps, optimizer } = config;
  const step = state.step + 1;
  const factor = learningRateFactor(step, { schedule, warmupSteps, steps: context.steps });
  const learningRate = optimizer.learningRate * factor;
  const stats = await policy.update({
    rows: rows.map(({ ids, mask }) => ({
      ids,
      mask,
      advantage: 1,
      samplerLogprobs: new Float32Array(ids.length - 1),
    })),
    loss: { policy: 'clip', aggregation: 'token-mean' },
    optimizer: { ...optimizer, learningRate },
    microBatchTokens: config.microBatchTokens,
    signal,
  });
  const metrics: SftMetrics = {
    step,
    epoch: cursor.drawn / training.length,
    seconds: (performance.now() - started) / 1000,
    loss: stats.samplerTrainerGap,
    tokens_trained: stats.tokens,
    rows: stats.rows,
    grad_norm: stats.gradNorm,
    entropy: stats.entropy,
    learning_rate: learningRate,
    weights_version: policy.weightsVersion,
    skipped: stats.skipped,
    memory_note: stats.note ?? null,
  };
  await context.metrics.append(metrics);
  context.loggers.step(metrics);
  state.step = step;
  state.cursor = cursor;
  state.logs = await markLogs(context.folder);
  return metrics;
}

/** Mean negative log-likelihood of the learned tokens of some rows, nats. */
export async function rowsLoss(
  policy: TrainablePolicy,
  rows: readonly SftRow[],
  signal?: AbortSignal,
): Promise<{ loss: number; tokens: number }> {
  let sum = 0;
  let tokens = 0;
  for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
    const chunk = rows.slice(start, start + CHUNK_ROWS);
    const logprobs = await policy.logprobs(
      chunk.map(({ ids }) => ids),
      { signal },
    );
    chunk.forEach(({ mask }, b) => {
      for (let t = 1; t < mask.length; t++) {
        if (mask[t] !== 1) continue;
        sum -= logprobs[b]?.[t - 1] as number;
        tokens++;
      }
    });
  }
  return { loss: sum / tokens, tokens };
}

/** The loss on rows that are not learned; the best adapter is kept as `best/`. @throws {GrpoError} ABORTED */
export async function validate(context: SftContext, state: SftState): Promise<SftValidation> {
  const { policy, validation, split } = context;
  const started = performance.now();
  const { loss, tokens } = await rowsLoss(policy, validation, context.stop);
  const record: SftValidation = {
    step: state.step,
    split,
    loss,
    perplexity: Math.exp(loss),
    tokens,
    rows: validation.length,
    seconds: (performance.now() - started) / 1000,
  };
  await context.evaluations.append(record);
  context.loggers.evaluation(record);
  if (state.best === undefined || loss < state.best.loss) {
    await saveWeights(context, 'best');
    state.best = { step: state.step, loss };
    state.sinceBest = 0;
  } else state.sinceBest++;
  state.evaluated = state.step;
  state.logs = await markLogs(context.folder);
  return record;
}
