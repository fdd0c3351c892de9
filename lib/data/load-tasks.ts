import { readFile } from 'node:fs/promises';
import { ZodError } from 'zod';
import { GrpoError } from '../errors.js';
import { RECORD_SHAPES } from './records.js';
import type { CodeTask } from './types.js';

/**
 * Tasks of a JSONL file: records of MBPP, HumanEval, KodCode, BigCodeBench, or plain ones with `prompt` and `test`.
 *
 * @throws IO_FAILED where the file can't be read; INVALID_TASKS with file and line where a line is no task, an id is there
 *   twice, or the file is empty
 * @example
 * const tasks = await loadTasks('examples/mbpp-sample.jsonl');
 */
export async function loadTasks(file: string): Promise<CodeTask[]> {
  let content: string;
  try {
    content = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (cause) {
    const isText = cause instanceof TypeError;
    if (isText)
      throw new GrpoError('INVALID_TASKS', 'tasks', `${file} is not UTF-8 text: a JSONL file is needed`, { cause });
    throw new GrpoError('IO_FAILED', 'tasks', `can't read ${file}: ${(cause as Error).message}`, { cause });
  }
  return parseTasks(content, file);
}

/**
 * Tasks of JSONL text; `file` is what errors name.
 *
 * @throws INVALID_TASKS
 */
export function parseTasks(content: string, file: string): CodeTask[] {
  const tasks: CodeTask[] = [];
  const lineOf = new Map<string, number>();
  content.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const place = `${file}:${index + 1}`;
    const task = toTask(line, place, tasks.length);
    const known = lineOf.get(task.id);
    if (known !== undefined) {
      throw new GrpoError('INVALID_TASKS', 'tasks', `${place}: the id '${task.id}' stands in line ${known} already`);
    }
    lineOf.set(task.id, index + 1);
    tasks.push(task);
  });
  if (tasks.length === 0) {
    throw new GrpoError('INVALID_TASKS', 'tasks', `${file} has no task: write one JSON object a line`);
  }
  return tasks;
}

function toTask(line: string, place: string, index: number): CodeTask {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch (cause) {
    throw new GrpoError('INVALID_TASKS', 'tasks', `${place}: not valid JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new GrpoError('INVALID_TASKS', 'tasks', `${place}: a JSON object is needed`);
  }
  const keys = Object.keys(record);
  const shape = RECORD_SHAPES.find((candidate) => candidate.keys.every((key) => keys.includes(key)));
  if (shape === undefined) {
    const shapes = RECORD_SHAPES.map(({ name, keys: needed }) => `${name} (${needed.join(', ')})`).join('; ');
    throw new GrpoError(
      'INVALID_TASKS',
      'tasks',
      `${place}: no known record: its keys are ${keys.join(', ') || 'none'}; known are ${shapes}`,
    );
  }
  try {
    return shape.toTask(record, index);
  } catch (cause) {
    throw new GrpoError('INVALID_TASKS', 'tasks', `${place}: ${shape.name} record: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof ZodError)) return (cause as Error).message;
  const [issue] = cause.issues;
  const where = issue?.path.join('.') ?? '';
  return `${where === '' ? '' : `${where}: `}${issue?.message ?? 'does not fit'}`;
}
