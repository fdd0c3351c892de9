/** How advantages are made from rewards. */
export interface AdvantageOptions {
  /** What the centred rewards are divided by. @default 'group' */
  scale?: 'group' | 'batch' | 'none';
  /** Added to the deviation. @default 1e-4 */
  epsilon?: number;
}

/** Advantages of one group, and whether it was constant. */
export interface GroupAdvantages {
  /** (G) 0 for invalid episodes and for the whole of a constant group. */
  advantages: number[];
  /** All valid rewards within {@link CONSTANT_SPREAD} of each other, or fewer than two valid ones. */
  constant: boolean;
  /** Valid episodes. */
  valid: number;
}

/** A group whose rewards spread by no more than this is constant: nothing can be learned from their differences. */
export const CONSTANT_SPREAD = 1e-6;

/** Two-pass mean, exact enough for constant input. NaN for no values. */
export function mean(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const first = values.reduce((sum, value) => sum + value, 0) / values.length;
  return first + values.reduce((sum, value) => sum + (value - first), 0) / values.length;
}

/** Sample standard deviation (divides by n - 1), two passes in float64; 0 for fewer than two values. */
export function sampleDeviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}

const isValid = (reward: number | null): reward is number => reward !== null;

/** Whether the valid rewards of a group differ by no more than {@link CONSTANT_SPREAD}. */
export function isConstantGroup(rewards: readonly (number | null)[]): boolean {
  const valid = rewards.filter(isValid);
  return valid.length < 2 || Math.max(...valid) - Math.min(...valid) <= CONSTANT_SPREAD;
}

/**
 * Group-relative advantages: (r - mean) / (s + epsilon), s the sample standard deviation of the group's valid rewards, of
 * all valid rewards of the batch (as in TRL), or nothing to divide by. Invalid episodes (null) are in no statistic and get 0.
 *
 * groups: (P)(G) rewards, null = invalid. Returns (P)(G).
 * Source: Shao et al. 2024, "DeepSeekMath", section 4.1; scale 'none': Liu et al. 2025, "Understanding R1-Zero-Like Training".
 *
 * @example
 * groupAdvantages([[1, 0, 0.05, -0.1]])[0].advantages; // [1.488548, -0.463646, -0.366036, -0.658865]
 */
export function groupAdvantages(
  groups: readonly (readonly (number | null)[])[],
  options: AdvantageOptions = {},
): GroupAdvantages[] {
  const { scale = 'group', epsilon = 1e-4 } = options;
  const centred = groups.map((rewards) => {
    const centre = mean(rewards.filter(isValid));
    return rewards.map((reward) => (reward === null ? null : reward - centre));
  });
  const constants = groups.map(isConstantGroup);
  const batchDeviation = sampleDeviation(groups.flat().filter(isValid));
  return groups.map((rewards, index) => {
    const constant = constants[index] as boolean;
    const values = centred[index] as (number | null)[];
    const groupDeviation = sampleDeviation(rewards.filter(isValid));
    const divisor = scale === 'none' ? 1 : (scale === 'batch' ? batchDeviation : groupDeviation) + epsilon;
    return {
      advantages: values.map((value) => (value === null || constant ? 0 : value / divisor)),
      constant,
      valid: rewards.filter(isValid).length,
    };
  });
}
