import type { NativeOptimizer } from '../addon-types.js';
import { OptionFields } from './option-fields.js';
import type { OptimizerOptions } from './types.js';

const OPTIMIZER_KEYS: readonly (keyof OptimizerOptions)[] = [
  'learningRate',
  'betas',
  'epsilon',
  'weightDecay',
  'maxGradNorm',
];
const DEFAULT_BETAS = [0.9, 0.999] as const;

function resolveBetas(fields: OptionFields): readonly [number, number] {
  if (!fields.has('betas')) return DEFAULT_BETAS;
  const betas = fields.raw('betas');
  const isDecay = (value: unknown) => typeof value === 'number' && value >= 0 && value < 1;
  if (Array.isArray(betas) && betas.length === 2 && betas.every(isDecay)) return betas as [number, number];
  throw fields.error(`optimizer.betas must be two numbers in [0, 1), got ${JSON.stringify(betas)}`);
}

/**
 * Checks AdamW's options and fills in its defaults (5e-6, [0.9, 0.999], 1e-8, no decay, gradient norm 1).
 *
 * @throws GrpoError INVALID_ARGUMENT for an unknown key or a value out of range.
 */
export function resolveOptimizer(optimizer: OptimizerOptions | undefined, operation: string): NativeOptimizer {
  const fields = new OptionFields(operation, 'optimizer.', optimizer, OPTIMIZER_KEYS);
  // Computed in float32; what is larger by far cannot be meant.
  const finite = { min: 0, max: 1e6 };
  const [beta1, beta2] = resolveBetas(fields);
  return {
    learningRate: fields.number('learningRate', 5e-6, finite),
    beta1,
    beta2,
    epsilon: fields.number('epsilon', 1e-8, { above: 0, max: 1e6 }),
    weightDecay: fields.number('weightDecay', 0, finite),
    maxGradNorm: fields.number('maxGradNorm', 1, { above: 0 }),
  };
}
