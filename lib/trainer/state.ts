import type { DataCursor } from '../algorithms/index.js';
import type { Task } from '../environments/types.js';
import type { TrainConfig } from '../config/index.js';
import type { EnvironmentSource } from '../launch/index.js';
import type { RunLoggers } from '../loggers/index.js';
import type { PolicyLike } from '../policy/types.js';
import type {
  EvaluationMode,
  EvaluationRecord,
  JsonLines,
  LogMarks,
  Reporter,
  StepMetrics,
  TrajectoryLog,
} from '../run/index.js';
import type { RunClock } from './run-clock.js';

/** What changes while a run goes on; with the policy's own state, all that a checkpoint has to keep. */
export interface RunState {
  /** Steps that are done. */
  step: number;
  cursor: DataCursor;
  /** Pass rate of the best evaluation so far; undefined before the first. */
  best: { step: number; passRate: number } | undefined;
  /** Step of the last evaluation; undefined before the first. */
  evaluated: number | undefined;
  /** Evaluations in a row that were no better than the best. */
  sinceBest: number;
  /** Steps that the optimizer skipped for numbers that were not finite. */
  skipped: number;
  /** Where the logs stand after all that is counted here. */
  logs: LogMarks;
  /** Digest of the training tasks, which the cursor counts in. */
  tasks: string;
}

/** A policy that training can keep. */
export interface TrainablePolicy extends PolicyLike {
  saveCheckpoint: (folder: string) => Promise<void>;
  exportMerged: (folder: string) => Promise<void>;
  readonly description?: { dtype: 'float32' | 'bfloat16' };
}

/** What stays the same while a run goes on. */
export interface RunContext {
  config: TrainConfig;
  /** The run's folder. */
  folder: string;
  policy: TrainablePolicy;
  source: EnvironmentSource;
  maxTurns: number | undefined;
  training: readonly Task[];
  evaluation: readonly Task[];
  /** Name of the evaluation tasks in `evaluations.jsonl`. */
  split: string;
  /** Modes of the evaluation at step 0; later ones take the last, the one at the end no-tools too. */
  modes: readonly EvaluationMode[];
  concurrency: number;
  metrics: JsonLines;
  evaluations: JsonLines;
  trajectories: TrajectoryLog;
  reporter: Reporter;
  clock: RunClock;
  loggers: RunLoggers;
  /** Abort what is under way; the present step is dropped. */
  signal: AbortSignal;
  /** Abort evaluations at once, and end after the present step. */
  stop: AbortSignal;
}

export interface TrainResult {
  /** The run's folder. */
  run: string;
  /** Steps that are done. */
  steps: number;
  /** The last step's metrics; undefined when no step was done. */
  metrics: StepMetrics | undefined;
  evaluations: EvaluationRecord[];
  /** The run was stopped before its last step. */
  interrupted: boolean;
}
