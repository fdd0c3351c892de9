export { logRun, RunLoggers } from './run-loggers.js';
export type { LoggersRequest } from './run-loggers.js';
export { samplesOf } from './samples.js';
export type { LogEnd, LogRow } from './types.js';
