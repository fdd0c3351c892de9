export type { TrainOptions } from './prepare.js';
export type { RunState, TrainResult } from './state.js';
export { train } from './train.js';
