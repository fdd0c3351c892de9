import Table from 'cli-table3';
import type { EvaluationMode, EvaluationRecord } from './records.js';

const MODE_NAMES: Record<EvaluationMode, string> = {
  'no-tools': 'no tools',
  'code-only': 'code only',
  'multi-tool': 'multi-tool',
};

/** Modes that the table shows after training: it has no code-only row there. */
export const TRAINED_MODES: readonly EvaluationMode[] = ['no-tools', 'multi-tool'];

const percent = (value: number | null | undefined) => (typeof value === 'number' ? (100 * value).toFixed(1) : 'n/a');

/** One row of the before/after table. */
export interface TableRow {
  label: string;
  passRate: number | null;
  ci95: [number | null, number | null];
  n: number;
  invalid: number;
  rewardMean: number | null;
  /** k -> pass@k, where a k above 1 was asked for. */
  passAtK: Record<string, number | null>;
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
          rewardMean: record.reward_mean,
          passAtK: record.pass_at_k ?? {},
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

interface Column {
  head: string;
  cell: (row: TableRow) => string;
}

/** The columns that have something to say; four to six, so that 80 characters hold them. */
function columnsOf(rows: readonly TableRow[]): Column[] {
  const hasVerdicts = rows.some((row) => row.passRate !== null);
  const ks = [...new Set(rows.flatMap((row) => Object.keys(row.passAtK)))].filter((k) => k !== '1').slice(0, 2);
  const verdicts: Column[] = [
    { head: 'pass@1', cell: (row) => `${percent(row.passRate)} %` },
    { head: '95 % interval', cell: (row) => `[${percent(row.ci95[0])}, ${percent(row.ci95[1])}]` },
    ...ks.map((k): Column => ({ head: `pass@${k}`, cell: (row) => `${percent(row.passAtK[k])} %` })),
  ];
  const rewards: Column[] = [{ head: 'reward', cell: (row) => row.rewardMean?.toFixed(3) ?? 'n/a' }];
  const invalid: Column[] = [{ head: 'invalid', cell: (row) => String(row.invalid) }];
  return [
    ...(hasVerdicts ? verdicts : rewards),
    { head: 'n', cell: (row) => String(row.n) },
    ...(rows.some((row) => row.invalid > 0) ? invalid : []),
  ];
}

const MOST_COLUMNS = 80;
const GAP = 2;
/** `Baseline (multi-tool)` */
const SHORTEST_LABEL = 21;

// Lines between the parts only: calm, and as readable in a file as on a terminal.
const LINES = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '' };
const SIDES = { 'bottom-left': '', 'bottom-right': '', left: '', right: '', middle: '  ', mid: '', 'mid-mid': '' };
const CHARS = { ...LINES, ...SIDES, 'left-mid': '', 'right-mid': '' };

/** The table as text of at most 80 columns: a heading, one line a row, then the gains in points. */
export function tableText(baseline: readonly EvaluationRecord[], trained: readonly EvaluationRecord[]): string {
  const rows = tableRows(baseline, trained);
  const columns = columnsOf(rows);
  const widths = [
    Math.max(...rows.map((row) => row.label.length), 'tool-learning gain'.length),
    ...columns.map(({ head, cell }) => Math.max(head.length, ...rows.map((row) => cell(row).length))),
  ];
  const excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - MOST_COLUMNS;
  // A label that is too long continues below.
  if (excess > 0) widths[0] = Math.max(SHORTEST_LABEL, (widths[0] as number) - excess);
  const table = new Table({
    colWidths: widths,
    wordWrap: true,
    head: ['', ...columns.map(({ head }) => head)],
    colAligns: ['left', ...columns.map(() => 'right' as const)],
    chars: CHARS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  rows.forEach((row) => table.push([row.label, ...columns.map(({ cell }) => cell(row))]));
  const { multiTool, toolLearning } = gains(baseline, trained);
  const gain = (label: string, value: number | null) => {
    if (value === null) return;
    const points = `${value >= 0 ? '+' : ''}${(100 * value).toFixed(1)} points`;
    table.push([label, { content: points, colSpan: 2, hAlign: 'left' }]);
  };
  gain('multi-tool gain', multiTool);
  gain('tool-learning gain', toolLearning);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}
