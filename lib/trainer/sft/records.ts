import type { LogMarks } from '../../run/index.js';

/** One line of `metrics.jsonl` of an `sft` run. */
export interface SftMetrics {
  step: number;
  /** Rows learned so far over the number of rows. */
  epoch: number;
  seconds: number;
  /** Mean negative log-likelihood of the learned tokens before the update, nats. */
  loss: number | null;
  tokens_trained: number;
  rows: number;
  grad_norm: number | null;
  entropy: number | null;
  learning_rate: number;
  weights_version: number;
  /** Why the optimizer did not step; null where it did. */
  skipped: string | null;
  /** How memory changed the micro-batches; null where it did not. */
  memory_note: string | null;
}

/** One line of `evaluations.jsonl` of an `sft` run. */
export interface SftValidation {
  step: number;
  split: 'held-out' | 'validation';
  /** Mean negative log-likelihood of the learned tokens, nats. */
  loss: number;
  /** exp(loss) */
  perplexity: number;
  tokens: number;
  rows: number;
  seconds: number;
}

/** What changes while an `sft` run goes on, beside the policy's own state. */
export interface SftState {
  step: number;
  cursor: { drawn: number };
  best: { step: number; loss: number } | undefined;
  evaluated: number | undefined;
  sinceBest: number;
  logs: LogMarks;
  /** Digest of the rows. */
  tasks: string;
}
