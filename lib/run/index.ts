export {
  dropCheckpointsAfter,
  findCheckpoint,
  pruneCheckpoints,
  refreshCheckpoint,
  removeLeftovers,
  writeCheckpoint,
} from './checkpoints.js';
export type { FoundCheckpoint } from './checkpoints.js';
export { configRecord, packageVersion, writeConfigFile } from './config-file.js';
export { evaluationRecord } from './evaluation-record.js';
export { createRunFolder, defaultRunFolder, replaceFolder } from './folder.js';
export { checkInvalidShare } from './invalid-limit.js';
export { JsonLines } from './json-lines.js';
export { cutLogs, EMPTY_LOGS, markLogs } from './log-marks.js';
export type { LogMarks } from './log-marks.js';
export { lockRun } from './run-lock.js';
export { stepMetrics } from './metrics.js';
export { readRun, runTable } from './read-run.js';
export type { RunLogs } from './read-run.js';
export type { EvaluationMode, EvaluationRecord, StepMetrics } from './records.js';
export { EpisodeFigures } from './episode-figures.js';
export { evaluationLine, jsonReporter, quietReporter, stepLine } from './reporter.js';
export type { Reporter, RunEnd } from './reporter.js';
export { reporterFor, textReporter } from './text-reporter.js';
export { gains, tableRows, tableText, TRAINED_MODES } from './table.js';
export { trajectory, TrajectoryLog } from './trajectories.js';
