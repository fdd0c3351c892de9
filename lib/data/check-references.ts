import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { GrpoError } from '../errors.js';
import { cacheFolder } from '../libtorch/cache-folder.js';
import type { SandboxLike } from '../sandbox/types.js';
import { checkTasks, type FailedTask } from './check-tasks.js';
import type { CodeTask } from './types.js';

/** A reference solution may take this long; what it took sets the limit for others. */
const REFERENCE_TIMEOUT_MS = 240_000;
const LEAST_TIMEOUT_MS = 30_000;
const TIMES_THE_REFERENCE = 5;

/** What {@link checkReferences} found. */
export interface ReferenceCheck {
  /** Tasks whose own solution passes, or that have none; with a time limit after what it took. */
  kept: CodeTask[];
  /** Tasks whose own solution fails or could not be judged here. */
  excluded: FailedTask[];
  /** How many were known from an earlier check. */
  known: number;
}

export interface ReferenceOptions {
  /** Interpreter of the sandbox: another one is checked again. */
  python: string;
  /** Image of a container sandbox: another one is checked again. */
  image?: string;
  /** Where passes are kept. @default references.jsonl in the cache folder */
  cacheFile?: string;
  concurrency?: number;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

/** The time limit of a task's tests: its own, else 30 s, or five times what the reference solution took where that is more. */
export function testTimeLimit(task: CodeTask, referenceMs: number): number {
  return task.timeoutMs ?? Math.max(LEAST_TIMEOUT_MS, Math.ceil(TIMES_THE_REFERENCE * referenceMs));
}

function keyOf(task: CodeTask, sandbox: SandboxLike, { python, image }: ReferenceOptions): string {
  const { solution, test, style, codePrompt, entryPoint, timeoutMs, memoryMb } = task;
  const files = Object.entries(task.files ?? {}).map(([name, data]) => [name, Buffer.from(data).toString('base64')]);
  const parts = [solution, test, style, codePrompt, entryPoint, timeoutMs, memoryMb, files, sandbox.backend, python];
  if (sandbox.backend === 'container' && image !== undefined) parts.push(image);
  return createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest('hex');
}

/** Passes of earlier checks: key -> milliseconds. A line that was cut by a crash is left out. */
async function readPasses(file: string): Promise<Map<string, number>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new GrpoError('IO_FAILED', 'tasks', `can't read ${file}: ${error.message}`, { cause: error });
  });
  const lines = [...text.matchAll(/^\{"key":"([0-9a-f]{64})","ms":([\d.]+)\}$/gm)];
  return new Map(lines.map(([, key, ms]) => [key!, Number(ms)]));
}

/**
 * Runs the reference solutions first, so that tasks which cannot be solved here are left out and counted. Passes are kept
 * on disk by the content of the task; failures are tried again each time.
 *
 * @throws IO_FAILED, ABORTED
 */
export async function checkReferences(
  tasks: readonly CodeTask[],
  sandbox: SandboxLike,
  options: ReferenceOptions,
): Promise<ReferenceCheck> {
  const file = options.cacheFile ?? path.join(cacheFolder(), 'references.jsonl');
  const passes = await readPasses(file);
  const keys = new Map(tasks.map((task) => [task.id, keyOf(task, sandbox, options)]));
  const open = tasks.filter((task) => task.solution !== undefined && !passes.has(keys.get(task.id)!));
  const known = tasks.filter((task) => passes.has(keys.get(task.id)!)).length;
  await mkdir(path.dirname(file), { recursive: true });
  let done = 0;
  const { failed, infra } = await checkTasks(open, sandbox, {
    concurrency: options.concurrency,
    timeoutMs: REFERENCE_TIMEOUT_MS,
    signal: options.signal,
    onChecked: async (task, status, wallMs = 0) => {
      options.onProgress?.(++done, open.length);
      if (status !== 'pass') return;
      const key = keys.get(task.id)!;
      const ms = Math.round(wallMs);
      passes.set(key, ms);
      await appendFile(file, `{"key":"${key}","ms":${ms}}\n`);
    },
  });
  const excluded = [...failed, ...infra];
  const out = new Set(excluded.map(({ id }) => id));
  const kept = tasks
    .filter(({ id }) => !out.has(id))
    .map((task) => {
      const took = passes.get(keys.get(task.id)!);
      return took === undefined ? task : { ...task, timeoutMs: testTimeLimit(task, took) };
    });
  return { kept, excluded, known };
}
