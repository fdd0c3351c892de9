export { evaluate } from './evaluate.js';
export type { EvaluateOptions, EvaluateResult } from './evaluate.js';
export { evaluateMode } from './evaluate-mode.js';
export type { ModeRequest } from './evaluate-mode.js';
export { generate } from './generate.js';
export type { GenerateOptions } from './generate.js';
