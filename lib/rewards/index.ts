export { codeReward } from './code.js';
export type { CodeRewardOptions } from './code.js';
export { defineReward } from './define-reward.js';
