export { checkReferences, testTimeLimit } from './check-references.js';
export type { ReferenceCheck, ReferenceOptions } from './check-references.js';
export { checkTasks } from './check-tasks.js';
export type { CheckOptions, FailedTask, TaskCheck } from './check-tasks.js';
export { chooseTasks } from './choose-tasks.js';
export type { TaskChoice, TaskFilter } from './choose-tasks.js';
export { loadTasks, parseTasks } from './load-tasks.js';
export type { LoadTasksOptions } from './load-tasks.js';
export type { CodeTask } from './types.js';
