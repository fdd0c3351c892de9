export { Policy } from './policy.js';
export { readCheckpoint, type Checkpoint, type CheckpointRecord } from '../model/checkpoint-record.js';
export { evaluateLoss, type LossBatch, type LossEvaluation } from './evaluate-loss.js';
export type * from './types.js';
