import { valueText } from './charts/line-chart.js';
import type { ComparedRun } from './types.js';

/** A number of a run in a comparison. */
export interface ComparisonColumn {
  name: string;
  unit: 'number' | 'percent' | 'points';
  value: (run: ComparedRun) => number | null;
}

const line = (label: string) => (run: ComparedRun) =>
  run.data.result.lines.find((one) => one.evaluated && one.label.startsWith(label))?.passRate ?? null;

const last = (field: string) => (run: ComparedRun) =>
  run.data.metrics.values[field]?.filter((value) => value !== null).at(-1) ?? null;

const lastNeeded = (field: 'search_rate_needed' | 'search_rate_unneeded') => (run: ComparedRun) =>
  run.data.evaluations
    .map((record) => record[field])
    .filter((value) => typeof value === 'number')
    .at(-1) ?? null;

/** What a comparison's table holds, one line a run; a column that no run has is left out. */
export const comparisonColumns: ComparisonColumn[] = [
  { name: 'steps', unit: 'number', value: ({ data }) => data.run.stepsDone },
  { name: 'minutes', unit: 'number', value: ({ data }) => data.run.seconds / 60 },
  { name: 'before (no tools)', unit: 'percent', value: line('Baseline (no tools)') },
  { name: 'before (multi-tool)', unit: 'percent', value: line('Baseline (multi-tool)') },
  { name: 'after (multi-tool)', unit: 'percent', value: line('RL (multi-tool)') },
  { name: 'tool-learning gain', unit: 'points', value: ({ data }) => data.result.toolLearning },
  { name: 'searches when needed', unit: 'percent', value: lastNeeded('search_rate_needed') },
  { name: 'searches when not needed', unit: 'percent', value: lastNeeded('search_rate_unneeded') },
  { name: 'last reward', unit: 'number', value: last('reward_mean') },
  { name: 'last entropy', unit: 'number', value: last('entropy') },
  { name: 'last KL', unit: 'number', value: last('kl') },
];

/** The cell of a run. */
export function cellText({ unit, value }: ComparisonColumn, run: ComparedRun): string {
  const found = value(run);
  if (unit !== 'points') return valueText(found, unit);
  return found === null ? valueText(null, 'number') : `${found >= 0 ? '+' : ''}${(100 * found).toFixed(1)} points`;
}
