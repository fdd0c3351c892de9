import { checkKeys, ensure } from '../known-keys.js';
import type { Reward, Task } from '../environments/types.js';

/**
 * A reward: `score` gives a number, a number with its parts, or says why the episode can't be scored.
 *
 * @throws INVALID_ARGUMENT on an unknown key, a missing field or a wrong type
 * @example
 * const short = defineReward({ name: 'short', weight: 0.1, score: ({ turns }) => (turns.length <= 2 ? 1 : 0) });
 */
export function defineReward<T extends Task>(reward: Reward<T>): Reward<T> {
  const operation = 'defineReward';
  ensure(operation, typeof reward === 'object' && reward !== null, 'a reward must be an object');
  checkKeys(operation, reward, ['name', 'weight', 'score', 'bounds']);
  ensure(operation, typeof reward.name === 'string' && reward.name !== '', 'name must be a string that is not empty');
  ensure(operation, typeof reward.score === 'function', `score of reward '${reward.name}' must be a function`);
  ensure(
    operation,
    reward.weight === undefined || Number.isFinite(reward.weight),
    `weight of reward '${reward.name}' must be a finite number`,
  );
  for (const [verdict, bound] of Object.entries(reward.bounds ?? {})) {
    const fits = Array.isArray(bound) && bound.length === 2 && bound.every(Number.isFinite) && bound[0] <= bound[1];
    ensure(operation, fits, `bounds.${verdict} of reward '${reward.name}' must be [least, most]`);
  }
  return { weight: 1, ...reward };
}
