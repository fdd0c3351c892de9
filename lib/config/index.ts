export { effectiveConfig } from './effective.js';
export { flagOptions, readFlags } from './flags.js';
export { configKeys, nearestName } from './keys.js';
export { loadConfigFile } from './load.js';
export {
  mergeTrainInputs,
  resolveEvaluateConfig,
  resolveGenerateConfig,
  resolveTrainConfig,
  restoreTrainConfig,
} from './resolve.js';
export { evaluateSchema, generateSchema, trainSchema } from './schema.js';
export type {
  EvaluateConfig,
  EvaluateInput,
  GenerateConfig,
  GenerateInput,
  TrainConfig,
  TrainInput,
} from './schema.js';
