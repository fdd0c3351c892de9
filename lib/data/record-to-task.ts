import { ZodError } from 'zod';
import { GrpoError } from '../errors.js';
import { RECORD_SHAPES, type RecordShape } from './records.js';
import type { CodeTask } from './types.js';

const shapeOf = (keys: string[]): RecordShape | undefined =>
  RECORD_SHAPES.find((shape) => shape.keys.every((key) => keys.includes(key)));

/** The columns of a table that its record shape reads; all of a plain one. */
export function columnsOf(columns: string[]): string[] {
  const { reads } = shapeOf(columns) ?? {};
  return reads === undefined ? columns : columns.filter((column) => reads.includes(column));
}

/**
 * A record of any known shape as a task.
 *
 * @param place file and line or row, for errors
 * @param index number of the record, for those without an id
 * @throws INVALID_TASKS
 */
export function recordToTask(record: unknown, place: string, index: number): CodeTask {
  const invalid = (message: string, cause?: unknown) =>
    new GrpoError('INVALID_TASKS', 'tasks', `${place}: ${message}`, cause === undefined ? undefined : { cause });
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    throw invalid('a JSON object is needed, one a line');
  const keys = Object.keys(record);
  const shape = shapeOf(keys);
  if (shape === undefined) {
    const shapes = RECORD_SHAPES.map(({ name, keys: needed }) => `${name} (${needed.join(', ')})`).join('; ');
    throw invalid(`no known record: its keys are ${keys.join(', ') || 'none'}; known are ${shapes}`);
  }
  try {
    return shape.toTask(record, index);
  } catch (cause) {
    throw invalid(`${shape.name} record: ${reasonOf(cause)}`, cause);
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof ZodError)) return (cause as Error).message;
  const [issue] = cause.issues;
  const where = issue?.path.join('.') ?? '';
  return `${where === '' ? '' : `${where}: `}${issue?.message ?? 'does not fit'}`;
}
