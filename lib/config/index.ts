export { benchSchema } from './bench-schema.js';
export type { BenchConfig, BenchInput } from './bench-schema.js';
export { effectiveConfig } from './effective.js';
export { flagOptions, readFlags } from './flags.js';
export { configKeys } from './keys.js';
export { orDemo } from './presets.js';
export { loadConfigFile } from './load.js';
export {
  mergeSftInputs,
  mergeTrainInputs,
  resolveBenchConfig,
  resolveEvaluateConfig,
  resolveGenerateConfig,
  resolveSftConfig,
  resolveTrainConfig,
  restoreSftConfig,
  restoreTrainConfig,
} from './resolve.js';
export { sftSchema } from './sft-schema.js';
export type { SftConfig, SftInput } from './sft-schema.js';
export { evaluateSchema, generateSchema, LOGGER_NAMES, trainSchema } from './schema.js';
export type {
  EvaluateConfig,
  EvaluateInput,
  GenerateConfig,
  GenerateInput,
  LoggerName,
  TrainConfig,
  TrainInput,
} from './schema.js';
