import { GrpoError } from '../errors.js';
import { deriveSeed, randomNumbers } from './random.js';

/**
 * Unbiased pass@k of one task: the chance that k of its n samples, drawn without replacement, hold a correct one.
 *
 * n samples, c correct. 1 where n - c < k, else 1 - prod_{i=n-c+1..n} (1 - k/i).
 * Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.
 *
 * @throws {GrpoError} INVALID_ARGUMENT when k is larger than n
 */
export function passAtK(n: number, c: number, k: number): number {
  if (k < 1 || k > n) {
    throw new GrpoError(
      'INVALID_ARGUMENT',
      'pass_at_k',
      `k must lie in 1..${n}, the samples of the task, but got ${k}`,
    );
  }
  if (n - c < k) return 1;
  let miss = 1;
  for (let index = n - c + 1; index <= n; index++) miss *= 1 - k / index;
  return 1 - miss;
}

/**
 * 95% interval of the mean over tasks: percentiles of seeded bootstrap means, tasks drawn with replacement.
 *
 * values: (tasks) one number a task. Returns [low, high]; [NaN, NaN] without tasks.
 */
export function bootstrapInterval(values: readonly number[], seed: number, draws = 2000): [number, number] {
  if (values.length === 0) return [NaN, NaN];
  const random = randomNumbers(deriveSeed('bootstrap', seed, values.length));
  const means = Array.from({ length: draws }, () => {
    let sum = 0;
    for (let index = 0; index < values.length; index++) sum += values[Math.floor(random() * values.length)] as number;
    return sum / values.length;
  }).sort((left, right) => left - right);
  const at = (share: number) => means[Math.min(draws - 1, Math.max(0, Math.round(share * (draws - 1))))] as number;
  return [at(0.025), at(0.975)];
}
