import type { CodeTask } from './types.js';

const FUNCTION = /^(?:async\s+)?def\s+(\w+)\s*\(/gm;

/**
 * The task with a solution whose functions all return None: tests that still pass prove nothing.
 * undefined where there is no solution, or it has no function.
 */
export function brokenSolution(task: CodeTask): string | undefined {
  if (task.solution === undefined) return undefined;
  const names = new Set([...task.solution.matchAll(FUNCTION)].map(([, name]) => name!));
  if (task.entryPoint !== undefined && /^\w+$/.test(task.entryPoint)) names.add(task.entryPoint);
  if (names.size === 0) return undefined;
  const stubs = [...names].map((name) => `def ${name}(*values, **named):\n    return None\n`);
  return `${task.solution.replace(/\n*$/, '\n')}\n\n${stubs.join('\n\n')}`;
}

/** Tasks with broken solutions; those that cannot be broken have none. */
export function brokenTasks(tasks: readonly CodeTask[]): CodeTask[] {
  return tasks.map((task) => ({ ...task, solution: brokenSolution(task) }));
}
