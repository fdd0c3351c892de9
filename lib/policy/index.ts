export { Policy } from './policy.js';
export { evaluateLoss, type LossBatch, type LossEvaluation } from './evaluate-loss.js';
export type * from './types.js';
