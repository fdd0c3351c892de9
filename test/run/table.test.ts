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

test('the text holds rates, intervals and gains, and labels test feedback', () => {
  const text = tableText(baseline, trained);
  assert.match(text, /Baseline \(no tools\) +20\.0 % {2}\[10\.0, 90\.0\] {2}n 50/);
  assert.match(text, /multi-tool gain +\+30\.0 points/);
  assert.match(text, /tool-learning gain +\+20\.0 points/);
  assert.match(tableText([record('multi-tool', 0.3, true)], []), /Baseline \(multi-tool\) with test feedback/);
});

test.run();
