export { ERROR_CODES, GrpoError } from './errors.js';
export type { ErrorCode } from './errors.js';
export { evaluateLoss, Policy } from './policy/index.js';
export type {
  CorrectionOptions,
  FinishReason,
  GenerateOptions,
  LoadOptions,
  LogprobsOptions,
  LossOptions,
  NumberArray,
  OptimizerOptions,
  PolicyLike,
  Session,
  SessionRow,
  Turn,
  UpdateOptions,
  UpdateRow,
  UpdateStats,
} from './policy/types.js';
export { Tokenizer } from './tokenizer/index.js';
export type { ChatTemplateOptions, EncodeOptions } from './tokenizer/types.js';
export { Sandbox } from './sandbox/index.js';
export type { RunOptions, RunResult, SandboxOptions, TestOptions, TestResult } from './sandbox/types.js';
export { defineEnvironment } from './environments/define-environment.js';
export type { EnvironmentDefinition } from './environments/define-environment.js';
export type { ArgumentsOf } from './environments/arguments.js';
export { defineReward } from './rewards/define-reward.js';
export { defineTool } from './tools/define-tool.js';
export type { ToolDefinition } from './tools/define-tool.js';
export { codeAgent } from './environments/code-agent/index.js';
export type * from './environments/types.js';
export { loadTasks } from './data/load-tasks.js';
export { sft, train } from './trainer/index.js';
export type { SftMetrics, SftResult, SftValidation, TrainOptions, TrainResult } from './trainer/index.js';
export { logRun } from './loggers/index.js';
export type { LoggersRequest } from './loggers/index.js';
export { bench } from './bench/index.js';
export type { BenchOptions, BenchResult } from './bench/index.js';
export { evaluate } from './evaluate/index.js';
export type { EvaluateOptions, EvaluateResult } from './evaluate/index.js';
export { writeReport } from './report/index.js';
export type { ReportOptions, WrittenReport } from './report/index.js';
export type { EvaluateInput, SftInput, TrainInput } from './config/index.js';
export type { EvaluationMode, EvaluationRecord, Reporter, StepMetrics } from './run/index.js';
export type { Episode } from './rollout/index.js';
