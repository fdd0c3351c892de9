import { GrpoError } from '../errors.js';
import type { Reward } from '../environments/types.js';

/** What episodes can earn, over all rewards with their weights. */
export interface RewardRange {
  /** The least that a passing episode earns. */
  leastPassed: number;
  /** The most that a failing episode earns. */
  mostFailed: number;
  /** Rewards that do not say what they can give. */
  unbounded: string[];
}

/** Adds up the bounds of rewards; a negative weight turns them round. */
export function rewardRange(rewards: readonly Reward[]): RewardRange {
  let leastPassed = 0;
  let mostFailed = 0;
  const unbounded: string[] = [];
  for (const { name, weight = 1, bounds } of rewards) {
    if (bounds === undefined) {
      unbounded.push(name);
      continue;
    }
    leastPassed += Math.min(weight * bounds.passed[0], weight * bounds.passed[1]);
    mostFailed += Math.max(weight * bounds.failed[0], weight * bounds.failed[1]);
  }
  return { leastPassed, mostFailed, unbounded };
}

/**
 * Refuses rewards under which an episode that fails could earn as much as one that passes. Rewards without bounds are
 * left out of the sum.
 *
 * @throws INVALID_CONFIG
 */
export function checkRewardOrder(rewards: readonly Reward[]): void {
  const { leastPassed, mostFailed, unbounded } = rewardRange(rewards);
  if (unbounded.length === rewards.length || leastPassed > mostFailed) return;
  const round = (value: number) => Number(value.toFixed(6));
  const message =
    `rewards ${rewards.map(({ name }) => name).join(', ')}: an episode that fails can earn ${round(mostFailed)}, ` +
    `one that passes may earn only ${round(leastPassed)}; lower the weight of what failing episodes earn (name:weight), ` +
    'or set keepOrder to false';
  throw new GrpoError('INVALID_CONFIG', 'config', message);
}
