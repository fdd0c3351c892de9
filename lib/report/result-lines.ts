import { gains } from '../run/index.js';
import type { EvaluationMode, EvaluationRecord } from '../run/index.js';
import type { ResultLine, RunData } from './types.js';

/** The table's lines in their order; the last one is shown only where it was evaluated. */
const LINES: ['Baseline' | 'RL', string, EvaluationMode][] = [
  ['Baseline', 'no tools', 'no-tools'],
  ['Baseline', 'code only', 'code-only'],
  ['Baseline', 'multi-tool', 'multi-tool'],
  ['RL', 'no tools', 'no-tools'],
  ['RL', 'multi-tool', 'multi-tool'],
  ['RL', 'code only', 'code-only'],
];

/** Evaluations at step 0, and those of the last evaluated step after it. */
export function beforeAndAfter(evaluations: readonly EvaluationRecord[]): {
  before: EvaluationRecord[];
  after: EvaluationRecord[];
} {
  const last = evaluations.reduce((step, record) => Math.max(step, record.step), 0);
  const before = evaluations.filter((record) => record.step === 0);
  return { before, after: last > 0 ? evaluations.filter((record) => record.step === last) : [] };
}

/** The before/after table with the two gains. */
export function resultOf(evaluations: readonly EvaluationRecord[]): RunData['result'] {
  const { before, after } = beforeAndAfter(evaluations);
  const lines = LINES.map(([when, name, mode]): ResultLine => {
    const record = (when === 'Baseline' ? before : after).find((one) => one.mode === mode);
    return {
      label: `${when} (${name})${record?.test_feedback ? ' with test feedback' : ''}`,
      passRate: record?.pass_rate ?? null,
      ci95: record?.ci95 ?? [null, null],
      rewardMean: record?.reward_mean ?? null,
      n: record?.n ?? null,
      invalid: record?.episodes_invalid ?? 0,
      evaluated: record !== undefined,
    };
  });
  return { lines: lines.filter((line, index) => index < 5 || line.evaluated), ...gains(before, after) };
}
