import type { EvaluationMode, EvaluationRecord } from './records.js';

const MODE_NAMES: Record<EvaluationMode, string> = {
  'no-tools': 'no tools',
  'code-only': 'code only',
  'multi-tool': 'multi-tool',
};

const percent = (value: number | null | undefined) => (typeof value === 'number' ? (100 * value).toFixed(1) : 'n/a');

/** One row of the before/after table. */
export interface TableRow {
  label: string;
  passRate: number | null;
  ci95: [number | null, number | null];
  n: number;
  invalid: number;
}

/** Rows Baseline (…) and RL (…) of evaluations before and after training, in the fixed order. */
export function tableRows(baseline: readonly EvaluationRecord[], trained: readonly EvaluationRecord[]): TableRow[] {
  const rows = (label: string, records: readonly EvaluationRecord[]) =>
    (Object.keys(MODE_NAMES) as EvaluationMode[]).flatMap((mode) =>
      records
        .filter((record) => record.mode === mode)
        .map((record) => ({
          label: `${label} (${MODE_NAMES[mode]})${record.test_feedback ? ' with test feedback' : ''}`,
          passRate: record.pass_rate,
          ci95: record.ci95,
          n: record.n,
          invalid: record.episodes_invalid,
        })),
    );
  return [...rows('Baseline', baseline), ...rows('RL', trained)];
}

const rateOf = (records: readonly EvaluationRecord[], mode: EvaluationMode) =>
  records.find((record) => record.mode === mode)?.pass_rate ?? null;

/** multi-tool gain = RL multi-tool - baseline no tools; tool-learning gain = RL multi-tool - baseline multi-tool. */
export function gains(
  baseline: readonly EvaluationRecord[],
  trained: readonly EvaluationRecord[],
): { multiTool: number | null; toolLearning: number | null } {
  const after = rateOf(trained, 'multi-tool');
  const minus = (before: number | null) => (after === null || before === null ? null : after - before);
  return { multiTool: minus(rateOf(baseline, 'no-tools')), toolLearning: minus(rateOf(baseline, 'multi-tool')) };
}

/** The table as text: one aligned line a row, then the gains in points. */
export function tableText(baseline: readonly EvaluationRecord[], trained: readonly EvaluationRecord[]): string {
  const rows = tableRows(baseline, trained);
  const width = Math.max(...rows.map((row) => row.label.length), 12);
  const lines = rows.map((row) => {
    const interval = `[${percent(row.ci95[0])}, ${percent(row.ci95[1])}]`;
    const invalid = row.invalid > 0 ? `, ${row.invalid} invalid` : '';
    return `${row.label.padEnd(width)}  ${percent(row.passRate).padStart(5)} %  ${interval}  n ${row.n}${invalid}`;
  });
  const { multiTool, toolLearning } = gains(baseline, trained);
  const points = (value: number) => `${value >= 0 ? '+' : ''}${(100 * value).toFixed(1)} points`;
  if (multiTool !== null) lines.push(`${'multi-tool gain'.padEnd(width)}  ${points(multiTool)}`);
  if (toolLearning !== null) lines.push(`${'tool-learning gain'.padEnd(width)}  ${points(toolLearning)}`);
  return lines.join('\n');
}
