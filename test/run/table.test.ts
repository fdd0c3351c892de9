import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { gains, tableRows, tableText } from '../../lib/run/index.js';
import type { EvaluationMode, EvaluationRecord } from '../../lib/run/index.js';

const record = (mode: EvaluationMode, pass: number | null, feedback = false) =>
  ({
    mode,
    pass_rate: pass,
    ci95: [0.1, 0.9],
    n: 50,
    episodes_invalid: 0,
    test_feedback: feedback,
  }) as EvaluationRecord;

const baseline = [record('multi-tool', 0.3), record('no-tools', 0.2), record('code-only', 0.25)];
const trained = [record('multi-tool', 0.5), record('no-tools', 0.22)];

test('rows come in the fixed order, before and after', () => {
  assert.equal(
    tableRows(baseline, trained).map((row) => row.label),
    ['Baseline (no tools)', 'Baseline (code only)', 'Baseline (multi-tool)', 'RL (no tools)', 'RL (multi-tool)'],
  );
});

test('gains compare the trained multi-tool rate with both baselines', () => {
  const { multiTool, toolLearning } = gains(baseline, trained);
  assert.ok(Math.abs(multiTool! - 0.3) < 1e-12);
  assert.ok(Math.abs(toolLearning! - 0.2) < 1e-12);
  assert.equal(gains(baseline, []), { multiTool: null, toolLearning: null });
});

test('the text holds a heading, rates, intervals and gains, and labels test feedback', () => {
  assert.is(
    tableText(baseline, trained),
    [
      '                       pass@1  95 % interval   n',
      'Baseline (no tools)    20.0 %   [10.0, 90.0]  50',
      'Baseline (code only)   25.0 %   [10.0, 90.0]  50',
      'Baseline (multi-tool)  30.0 %   [10.0, 90.0]  50',
      'RL (no tools)          22.0 %   [10.0, 90.0]  50',
      'RL (multi-tool)        50.0 %   [10.0, 90.0]  50',
      'multi-tool gain        +30.0 points',
      'tool-learning gain     +20.0 points',
    ].join('\n'),
  );
  assert.match(tableText([record('multi-tool', 0.3, true)], []), /Baseline \(multi-tool\) with test feedback/);
});

test('pass@k and invalid episodes have columns where there are any, and 80 columns hold all', () => {
  const full = [
    {
      ...record('multi-tool', 1, true),
      ci95: [1, 1] as [number, number],
      pass_at_k: { 1: 1, 5: 1, 10: 1 },
      episodes_invalid: 12,
      n: 1000,
    },
  ];
  const [head, row, below, ...rest] = tableText(full, full).split('\n');
  assert.match(head!, /^ +pass@1 +95 % interval +pass@5 +pass@10 +n +invalid$/);
  assert.match(row!, /^Baseline \(multi-tool\) +100\.0 % +\[100\.0, 100\.0\] +100\.0 % +100\.0 % +1000 +12$/);
  assert.match(below!, /^(with )?test feedback$/);
  for (const line of [head!, row!, below!, ...rest]) assert.ok(line.length <= 80, line);
});

test('where nothing can pass the mean reward is shown', () => {
  const text = tableText([{ ...record('multi-tool', null), reward_mean: 0.25 }], []);
  assert.match(text, /reward +n\nBaseline \(multi-tool\) +0\.250 +50$/);
});

test.run();
