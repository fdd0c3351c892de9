export { checkRun } from './check-run.js';
export type { CheckedRun } from './check-run.js';
export type { SelfCheck } from './self-check.js';
export type { TrainOptions } from './prepare.js';
export type { RunState, TrainResult } from './state.js';
export { train } from './train.js';
export { sft } from './sft/sft.js';
export type { SftResult } from './sft/sft.js';
export type { SftMetrics, SftValidation } from './sft/records.js';
