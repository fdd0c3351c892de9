export { codeAgent } from './code-agent/index.js';
export type { CodeAgentMode, CodeAgentOptions } from './code-agent/index.js';
export { defineEnvironment } from './define-environment.js';
export type { EnvironmentDefinition } from './define-environment.js';
export { createCallFormat } from './formats/index.js';
export type { CallFormatName } from './formats/index.js';
export { defineTool } from '../tools/define-tool.js';
export { defineReward } from '../rewards/define-reward.js';
export type * from './types.js';
