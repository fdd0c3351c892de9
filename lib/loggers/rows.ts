import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readRun } from '../run/index.js';
import type { LogRow } from './types.js';

type Line = object & { step: number };

/** Names that count nothing, or whose keys come from messages. */
const LEFT_OUT = ['step', 'invalid_reasons'];

/** The finite numbers of a line of a run's log, lists of two as `_low` and `_high`, objects flattened with `/`. */
export function scalarsOf(line: object, prefix: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [key, value] of Object.entries(line) as [string, unknown][]) {
    if (LEFT_OUT.includes(key)) continue;
    const name = `${prefix}${key}`;
    if (typeof value === 'number' && Number.isFinite(value)) found[name] = value;
    else if (key === 'alarms' && Array.isArray(value)) found[name] = value.length;
    else if (key === 'ci95' && Array.isArray(value)) {
      Object.assign(found, scalarsOf({ low: value[0] as unknown, high: value[1] as unknown }, `${name}_`));
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      Object.assign(found, scalarsOf(value, `${name}/`));
    }
  }
  return found;
}

/** `train/…` of a line of metrics.jsonl. */
export const trainScalars = (line: object): Record<string, number> => scalarsOf(line, 'train/');

/** `eval/<mode>/…` of a line of evaluations.jsonl; `eval/…` where there are no modes, as in sft. */
export function evaluationScalars(line: object): Record<string, number> {
  const mode = 'mode' in line && typeof line.mode === 'string' ? `${line.mode}/` : '';
  return scalarsOf(line, `eval/${mode}`);
}

/**
 * One row a step of lines of metrics and evaluations, by step.
 *
 * @param endTime when the last line was written, Unix time in seconds: lines carry how long they took, not when
 */
export function joinLines(metrics: readonly Line[], evaluations: readonly Line[], endTime: number): LogRow[] {
  const rows = new Map<number, LogRow & { seconds: number }>();
  const add = (line: Line, scalars: Record<string, number>) => {
    const row = rows.get(line.step) ?? { step: line.step, time: 0, scalars: {}, samples: [], seconds: 0 };
    Object.assign(row.scalars, scalars);
    if ('seconds' in line && typeof line.seconds === 'number') row.seconds += line.seconds;
    rows.set(line.step, row);
  };
  for (const line of metrics) add(line, trainScalars(line));
  for (const line of evaluations) add(line, evaluationScalars(line));
  const sorted = [...rows.values()].sort((left, right) => left.step - right.step);
  let time = endTime;
  for (const row of [...sorted].reverse()) {
    row.time = time;
    time -= row.seconds;
  }
  return sorted.map(({ seconds: _seconds, ...row }) => row);
}

/**
 * The rows of a run's folder.
 *
 * @throws {GrpoError} RUN_INVALID, IO_FAILED
 */
export async function readRows(folder: string): Promise<LogRow[]> {
  const { metrics, evaluations } = await readRun(folder);
  const written = await Promise.all(
    ['metrics.jsonl', 'evaluations.jsonl'].map((name) =>
      stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs / 1000,
        () => 0,
      ),
    ),
  );
  return joinLines(metrics, evaluations, Math.max(...written));
}

/** The effective configuration of a run, from its config.json. */
export async function readRunConfig(folder: string): Promise<Record<string, unknown>> {
  const { config } = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as { config?: unknown };
  return typeof config === 'object' && config !== null ? { ...config } : {};
}
