import { z } from 'zod';
import { GrpoError } from '../errors.js';
import { FILE_BYTES, type Files, PROGRAM_NAMES, problemOfFiles, TEST_NAMES } from './files.js';
import type { RunOptions, TestOptions } from './types.js';

const RUN_TIMEOUT_MS = 10_000;
const TEST_TIMEOUT_MS = 30_000;
const RUN_MEMORY_MB = 512;
const TEST_MEMORY_MB = 2048;
const OUTPUT_BYTES = 65_536;

const positive = z.number().int().positive();
export const timeoutSchema = positive.max(24 * 3_600_000);
export const memorySchema = positive.min(16).max(1_048_576);
const shared = {
  files: z.record(z.string(), z.union([z.string(), z.instanceof(Uint8Array)])).optional(),
  timeoutMs: timeoutSchema.optional(),
  memoryMb: memorySchema.optional(),
  signal: z.instanceof(AbortSignal).optional(),
};
const runSchema = z.strictObject({
  ...shared,
  code: z.string(),
  stdin: z.string().optional(),
  outputBytes: positive.max(64 * 2 ** 20).optional(),
});
const testSchema = z.strictObject({
  ...shared,
  solution: z.string(),
  test: z.string(),
  codePrompt: z.string().nullish(),
  entryPoint: z.string().nullish(),
  style: z.enum(['auto', 'unittest', 'pytest', 'check', 'assert']).optional(),
});

/** One job as the supervisor reads it. */
export interface Job {
  kind: 'run' | 'test';
  /** path -> base64 */
  files: Record<string, string>;
  limits: { timeoutMs: number; memoryMb: number; outputBytes: number; fileBytes: number; processes: number };
  [key: string]: unknown;
}

function check<T>(schema: z.ZodType<T>, options: unknown, operation: string): T {
  const found = schema.safeParse(options);
  if (found.success) return found.data;
  const issue = found.error.issues[0];
  const where = issue?.path.join('.') ?? '';
  throw new GrpoError(
    'INVALID_ARGUMENT',
    operation,
    `${where ? `${where}: ` : ''}${issue?.message ?? 'wrong options'}`,
  );
}

function encodeFiles(files: Files | undefined, reserved: readonly string[], operation: string): Record<string, string> {
  const problem = problemOfFiles(files ?? {}, reserved);
  if (problem !== undefined) throw new GrpoError('INVALID_ARGUMENT', operation, `files: ${problem}`);
  return Object.fromEntries(
    Object.entries(files ?? {}).map(([path, data]) => [path, Buffer.from(data as string).toString('base64')]),
  );
}

/** @throws INVALID_ARGUMENT */
export function runJob(options: RunOptions, processes: number): Job {
  const operation = 'sandbox.run';
  const given = check(runSchema, options, operation);
  return {
    kind: 'run',
    files: encodeFiles(given.files, PROGRAM_NAMES, operation),
    limits: {
      timeoutMs: given.timeoutMs ?? RUN_TIMEOUT_MS,
      memoryMb: given.memoryMb ?? RUN_MEMORY_MB,
      outputBytes: given.outputBytes ?? OUTPUT_BYTES,
      fileBytes: FILE_BYTES,
      processes,
    },
    code: given.code,
    stdin: given.stdin ?? '',
  };
}

/** @throws INVALID_ARGUMENT */
export function testJob(options: TestOptions, processes: number): Job {
  const operation = 'sandbox.test';
  const given = check(testSchema, options, operation);
  return {
    kind: 'test',
    files: encodeFiles(given.files, TEST_NAMES, operation),
    limits: {
      timeoutMs: given.timeoutMs ?? TEST_TIMEOUT_MS,
      memoryMb: given.memoryMb ?? TEST_MEMORY_MB,
      outputBytes: OUTPUT_BYTES,
      fileBytes: FILE_BYTES,
      processes,
    },
    solution: given.solution,
    test: given.test,
    codePrompt: given.codePrompt ?? null,
    entryPoint: given.entryPoint ?? null,
    style: given.style ?? 'auto',
  };
}
