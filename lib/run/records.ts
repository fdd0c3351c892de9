/** One line of `metrics.jsonl`; null where a number is undefined (no update, no valid episode, no such tool). */
export interface StepMetrics {
  step: number;
  /** Of the whole step. */
  seconds: number;
  rollout_seconds: number;
  update_seconds: number;
  tokens_sampled: number;
  tokens_trained: number;
  reward_mean: number | null;
  /** Sample standard deviation over the step's valid episodes. */
  reward_std: number | null;
  pass_rate: number | null;
  /** Groups whose valid rewards are all equal. */
  groups_constant: number;
  episodes_invalid: number;
  /** Share of valid episodes with a turn cut by the token limit or the context. */
  truncated_rate: number | null;
  /** Mean probability mass that topP, topK and minP cut away. */
  truncated_mass: number | null;
  tool_search_rate: number | null;
  /** Of the episodes whose task needs a search, and of those whose task does not, where tasks say it (`needsSearch`). */
  search_rate_needed?: number | null;
  search_rate_unneeded?: number | null;
  tool_execute_rate: number | null;
  tool_submit_rate: number | null;
  turns_mean: number | null;
  loss: number | null;
  kl: number | null;
  entropy: number | null;
  grad_norm: number | null;
  clip_fraction: number | null;
  ratio_max: number | null;
  learning_rate: number;
  sampler_trainer_gap: number | null;
  weights_version: number;
  /** Why the optimizer did not step; null where it did. */
  skipped: string | null;
  /** Steps so far whose update was refused, this one included. */
  steps_skipped: number;
  /** Episodes that entered the update. */
  rows_trained: number;
  /** Forward and backward passes of the update. */
  micro_batches: number | null;
  /** How memory changed the micro-batches; null where it did not. */
  memory_note: string | null;
  /** Names of the alarms that sounded. */
  alarms: string[];
  /** Episodes of the step, valid and not. */
  episodes: number;
  groups: number;
  /** Share of valid episodes with a failed call, and with a call that could not be parsed. */
  call_error_rate: number | null;
  malformed_rate: number | null;
  /** Mean of every reward part over valid episodes. */
  reward_parts: Record<string, number>;
  /** Counted reasons of invalid episodes. */
  invalid_reasons: Record<string, number>;
  /** Rates of tools beyond the three. */
  [extra: `tool_${string}_rate`]: number | null;
}

export type EvaluationMode = 'no-tools' | 'code-only' | 'multi-tool';

/** One line of `evaluations.jsonl`. */
export interface EvaluationRecord {
  step: number;
  split: string;
  mode: EvaluationMode;
  temperature: number;
  /** Valid episodes. */
  n: number;
  tasks: number;
  samples_per_task: number;
  pass_rate: number | null;
  /** Bootstrap over tasks. */
  ci95: [number | null, number | null];
  search_rate: number | null;
  /** Only where tasks say whether they need the documentation. */
  search_rate_needed?: number | null;
  search_rate_unneeded?: number | null;
  /** Only where a k above 1 was asked for: k -> pass@k over the tasks with k valid samples. */
  pass_at_k?: Record<string, number | null>;
  reward_mean: number | null;
  execute_rate: number | null;
  submit_rate: number | null;
  truncated_rate: number | null;
  malformed_rate: number | null;
  turns_mean: number | null;
  calls_mean: number | null;
  tokens_mean: number | null;
  /** Calls an episode that could not be parsed. */
  invalid_calls_mean: number | null;
  /** Tasks that were left out because their own solution failed; only where that was checked. */
  tasks_excluded?: number;
  episodes_invalid: number;
  invalid_reasons: Record<string, number>;
  /** The episodes could mend failed submissions: a seen verdict is a hint. */
  test_feedback: boolean;
  seconds: number;
}
