import type { Curves } from './types.js';

type Line = Record<string, unknown>;

/** Reward parts become curves of their own under this prefix. */
export const PART_PREFIX = 'part: ';

/** Numbers of one line by field. */
function numbersOf(line: Line): [string, number | null][] {
  return Object.entries(line).flatMap(([field, value]): [string, number | null][] => {
    if (field === 'step') return [];
    if (field === 'reward_parts') {
      return Object.entries((value ?? {}) as Line).map(([part, number]) => [
        PART_PREFIX + part,
        typeof number === 'number' ? number : null,
      ]);
    }
    return typeof value === 'number' || value === null ? [[field, value]] : [];
  });
}

const short = (value: number) => Number(value.toPrecision(6));

/**
 * The lines of a log as one array a field. Above `most` lines, each entry is the mean of several steps.
 *
 * @param most entries at most
 */
export function curvesOf(lines: readonly object[], most = Infinity): Curves {
  const stepsPerEntry = Math.max(1, Math.ceil(lines.length / most));
  const entries: Line[][] = [];
  for (let at = 0; at < lines.length; at += stepsPerEntry) entries.push(lines.slice(at, at + stepsPerEntry) as Line[]);
  const values: Record<string, (number | null)[]> = {};
  entries.forEach((entry, index) => {
    const sums = new Map<string, { sum: number; count: number }>();
    for (const [field, value] of entry.flatMap(numbersOf)) {
      const known = sums.get(field) ?? { sum: 0, count: 0 };
      sums.set(field, value === null ? known : { sum: known.sum + value, count: known.count + 1 });
    }
    for (const [field, { sum, count }] of sums) {
      values[field] ??= new Array<number | null>(entries.length).fill(null);
      values[field][index] = count === 0 ? null : short(sum / count);
    }
  });
  // The last step of an entry: then the end of a curve is the run's last step.
  return { steps: entries.map((entry) => Number(entry.at(-1)?.['step'])), values, stepsPerEntry };
}
