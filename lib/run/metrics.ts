import { sampleDeviation } from '../algorithms/index.js';
import type { UpdateStats } from '../policy/types.js';
import type { Episode } from '../rollout/index.js';
import type { StepMetrics } from './records.js';
import { called, invalidReasons, meanOrNull, partMeans, passRate, rate, searchRatesByNeed } from './statistics.js';

export interface StepFacts {
  step: number;
  seconds: number;
  rolloutSeconds: number;
  updateSeconds: number;
  /** (P)(G) */
  groups: readonly (readonly Episode[])[];
  constantGroups: number;
  /** Names of the environment's tools. */
  tools: readonly string[];
  learningRate: number;
  /** undefined where nothing was left to train on. */
  stats: UpdateStats | undefined;
  weightsVersion: number;
  /** Steps so far that the optimizer refused. */
  skippedSteps: number;
}

/** The metrics of one step, alarms left out. Invalid episodes are counted, and in no mean. */
export function stepMetrics(facts: StepFacts): StepMetrics {
  const { stats, tools } = facts;
  const all = facts.groups.flat();
  const valid = all.filter((episode) => episode.invalid === undefined);
  const rewards = valid.map((episode) => episode.reward?.value).filter((value) => value !== undefined);
  const toolRate = (name: string) => (tools.includes(name) ? rate(valid, called(name)) : null);
  const others = tools.filter((name) => !['search', 'execute', 'submit'].includes(name));
  const sampled = all.reduce((sum, episode) => sum + episode.tokens, 0);
  const cut = all.reduce((sum, episode) => sum + episode.truncatedMass * episode.tokens, 0);
  return {
    step: facts.step,
    seconds: facts.seconds,
    rollout_seconds: facts.rolloutSeconds,
    update_seconds: facts.updateSeconds,
    tokens_sampled: sampled,
    tokens_trained: stats?.tokens ?? 0,
    reward_mean: meanOrNull(rewards),
    reward_std: rewards.length < 2 ? null : sampleDeviation(rewards),
    pass_rate: passRate(valid),
    groups_constant: facts.constantGroups,
    episodes_invalid: all.length - valid.length,
    truncated_rate: rate(valid, (episode) => episode.counters.truncatedTurns > 0),
    truncated_mass: sampled > 0 ? cut / sampled : null,
    tool_search_rate: toolRate('search'),
    ...searchRatesByNeed(valid),
    tool_execute_rate: toolRate('execute'),
    tool_submit_rate: toolRate('submit'),
    ...Object.fromEntries(others.map((name) => [`tool_${name}_rate`, rate(valid, called(name))])),
    turns_mean: meanOrNull(valid.map((episode) => episode.state.turns.length)),
    loss: stats?.loss ?? null,
    kl: stats?.kl ?? null,
    entropy: stats?.entropy ?? null,
    grad_norm: stats?.gradNorm ?? null,
    clip_fraction: stats?.clipFraction ?? null,
    ratio_max: stats?.ratioMax ?? null,
    learning_rate: facts.learningRate,
    sampler_trainer_gap: stats?.samplerTrainerGap ?? null,
    weights_version: facts.weightsVersion,
    skipped: stats ? stats.skipped : 'no group had different rewards',
    steps_skipped: facts.skippedSteps,
    rows_trained: stats?.rows ?? 0,
    micro_batches: stats?.microBatches ?? null,
    memory_note: stats?.note ?? null,
    alarms: [],
    episodes: all.length,
    groups: facts.groups.length,
    call_error_rate: rate(valid, (episode) => episode.counters.callErrors > 0),
    malformed_rate: rate(valid, (episode) => episode.counters.malformed > 0),
    reward_parts: partMeans(valid),
    invalid_reasons: invalidReasons(all),
  };
}
