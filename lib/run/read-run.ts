import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import type { EvaluationRecord, StepMetrics } from './records.js';
import { tableText } from './table.js';

/** What the logs of a run hold. */
export interface RunLogs {
  metrics: StepMetrics[];
  evaluations: EvaluationRecord[];
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** @param where what an error names it by */
function readLine<T>(line: string, where: string): T {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch (error) {
    throw new GrpoError('RUN_INVALID', 'run', `${where} is not JSON`, { cause: error });
  }
  if (typeof (record as { step?: unknown } | null)?.step === 'number') return record as T;
  throw new GrpoError('RUN_INVALID', 'run', `${where} is no record of a step`);
}

async function readLines<T>(path: string): Promise<T[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new GrpoError('IO_FAILED', 'run', `${path} cannot be read: ${error.message}`, { cause: error });
  });
  const lines = text.split('\n');
  // A last line without its end is being written, or its writer was killed.
  if (!isWhole(lines.at(-1) as string)) lines.pop();
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [readLine<T>(line, `${path}:${index + 1}`)]));
}

/**
 * Reads a run's metrics and evaluations.
 *
 * @throws {GrpoError} RUN_INVALID where the folder holds no run or a broken line, IO_FAILED
 */
export async function readRun(folder: string): Promise<RunLogs> {
  const isRun = await stat(join(folder, 'config.json')).then(
    (entry) => entry.isFile(),
    () => false,
  );
  if (!isRun) throw new GrpoError('RUN_INVALID', 'run', `${folder} is no run folder: it has no config.json`);
  return {
    metrics: await readLines<StepMetrics>(join(folder, 'metrics.jsonl')),
    evaluations: await readLines<EvaluationRecord>(join(folder, 'evaluations.jsonl')),
  };
}

/** The before/after table of a run: its evaluations at step 0 and its last ones. */
export function runTable({ evaluations }: RunLogs): string {
  const last = Math.max(0, ...evaluations.map((record) => record.step));
  const before = evaluations.filter((record) => record.step === 0);
  const after = evaluations.filter((record) => record.step === last && last > 0);
  return before.length + after.length === 0 ? 'no evaluations yet' : tableText(before, after);
}
