import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { smoothingFor, trailingMeans } from '../../lib/report/charts/line-chart.js';
import { curvesOf } from '../../lib/report/curves.js';
import { resultOf } from '../../lib/report/result-lines.js';
import type { EvaluationMode, EvaluationRecord } from '../../lib/run/index.js';

test('every number of a log becomes a curve, reward parts too, and what is missing is null', () => {
  const lines = [
    { step: 1, kl: null, reward_mean: 0.5, alarms: ['kl'], skipped: 'why', reward_parts: { passed: 1 } },
    { step: 2, kl: 0.25, reward_mean: 1, reward_parts: { passed: 0, style: -1 } },
  ];
  assert.equal(curvesOf(lines), {
    steps: [1, 2],
    values: { kl: [null, 0.25], reward_mean: [0.5, 1], 'part: passed': [1, 0], 'part: style': [null, -1] },
    stepsPerEntry: 1,
  });
});

test('a long log is thinned to means over steps that end with the last one', () => {
  const lines = Array.from({ length: 10 }, (_, index) => ({ step: index + 1, a: index === 0 ? null : index + 1 }));
  assert.equal(curvesOf(lines, 4), { steps: [3, 6, 9, 10], values: { a: [2.5, 5, 8, 10] }, stepsPerEntry: 3 });
});

test('no steps give empty curves', () => {
  assert.equal(curvesOf([]), { steps: [], values: {}, stepsPerEntry: 1 });
});

test('a thick curve is the mean over a point and those before it', () => {
  const points = [
    [1, 1],
    [2, 3],
    [3, null],
    [4, 5],
  ] as const;
  assert.equal(trailingMeans([...points], 3), [
    [1, 1],
    [2, 2],
    [3, null],
    [4, 4],
  ]);
  assert.equal([19, 20, 100, 1000].map(smoothingFor), [1, 2, 5, 50]);
});

const record = (step: number, mode: EvaluationMode, pass: number | null) =>
  ({
    step,
    mode,
    pass_rate: pass,
    ci95: [0.1, 0.9],
    n: 8,
    episodes_invalid: 1,
    reward_mean: 0.5,
    test_feedback: false,
  }) as EvaluationRecord;

test('the table has its five lines whatever was evaluated, and the last step counts', () => {
  const result = resultOf([
    record(0, 'no-tools', 0.2),
    record(0, 'multi-tool', 0.3),
    record(5, 'multi-tool', 0.1),
    record(9, 'multi-tool', 0.6),
  ]);
  assert.equal(
    result.lines.map(({ label, passRate, evaluated }) => [label, passRate, evaluated]),
    [
      ['Baseline (no tools)', 0.2, true],
      ['Baseline (code only)', null, false],
      ['Baseline (multi-tool)', 0.3, true],
      ['RL (no tools)', null, false],
      ['RL (multi-tool)', 0.6, true],
    ],
  );
  assert.ok(Math.abs(result.multiTool! - 0.4) < 1e-12);
  assert.ok(Math.abs(result.toolLearning! - 0.3) < 1e-12);
});

test.run();
