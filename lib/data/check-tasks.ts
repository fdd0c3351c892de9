import type { SandboxLike, TestResult } from '../sandbox/types.js';
import type { CodeTask } from './types.js';

/** A task whose reference solution did not pass. */
export interface FailedTask {
  id: string;
  status: TestResult['status'];
  testsRun: number;
  failures: TestResult['failures'];
}

/** What {@link checkTasks} found. */
export interface TaskCheck {
  tasks: number;
  passed: number;
  failed: FailedTask[];
  /** The sandbox could not judge them. */
  infra: FailedTask[];
  /** Ids of tasks without a reference solution. */
  withoutSolution: string[];
  seconds: number;
}

export interface CheckOptions {
  /** Tasks at the same time. @default 2 */
  concurrency?: number;
  /** Of one task's tests; a task's own limit comes first. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** After every task; `wallMs` is what its tests took. */
  onChecked?: (task: CodeTask, status: TestResult['status'] | 'no-solution', wallMs?: number) => void | Promise<void>;
}

/** Runs the reference solutions of tasks against their tests. */
export async function checkTasks(
  tasks: CodeTask[],
  sandbox: SandboxLike,
  options: CheckOptions = {},
): Promise<TaskCheck> {
  const started = performance.now();
  const results = new Map<string, TestResult>();
  const withoutSolution: string[] = [];
  const waiting = tasks.values();
  const work = async (): Promise<void> => {
    for (const task of waiting) {
      options.signal?.throwIfAborted();
      if (task.solution === undefined) {
        withoutSolution.push(task.id);
        await options.onChecked?.(task, 'no-solution');
        continue;
      }
      const { test, style, codePrompt, entryPoint, memoryMb, files } = task;
      const timeoutMs = task.timeoutMs ?? options.timeoutMs;
      const result = await sandbox.test({
        solution: task.solution,
        test,
        style: style ?? 'auto',
        codePrompt,
        entryPoint,
        timeoutMs,
        memoryMb,
        files,
        signal: options.signal,
      });
      results.set(task.id, result);
      await options.onChecked?.(task, result.status, result.wallMs);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 2 }, work));
  const judged = tasks.flatMap(({ id }) => {
    const result = results.get(id);
    return result === undefined ? [] : [{ id, ...result }];
  });
  const rest = judged.filter(({ status }) => status !== 'pass');
  const failure = ({ id, status, testsRun, failures }: FailedTask): FailedTask => ({ id, status, testsRun, failures });
  return {
    tasks: tasks.length,
    passed: judged.length - rest.length,
    failed: rest.filter(({ status }) => status !== 'infra').map(failure),
    infra: rest.filter(({ status }) => status === 'infra').map(failure),
    withoutSolution,
    seconds: (performance.now() - started) / 1000,
  };
}
