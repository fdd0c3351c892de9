export { checkTasks } from './check-tasks.js';
export type { CheckOptions, FailedTask, TaskCheck } from './check-tasks.js';
export { loadTasks, parseTasks } from './load-tasks.js';
export type { CodeTask } from './types.js';
