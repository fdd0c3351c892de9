import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluationScalars, joinLines, trainScalars } from '../../lib/loggers/rows.js';

test('the numbers of a step are logged by name, nested ones with a slash, and nothing that is no number', () => {
  const line = {
    step: 3,
    loss: 0.5,
    kl: null,
    skipped: 'no group',
    reward_parts: { passed: 0.25 },
    invalid_reasons: { 'a message': 2 },
    alarms: ['kl', 'clip'],
  };
  assert.equal(trainScalars(line), { 'train/loss': 0.5, 'train/reward_parts/passed': 0.25, 'train/alarms': 2 });
});

test('evaluations are logged by mode, with their interval', () => {
  const line = {
    step: 3,
    mode: 'multi-tool',
    split: 'eval',
    pass_rate: 0.5,
    ci95: [0.25, null],
    pass_at_k: { 5: 0.75 },
  };
  assert.equal(evaluationScalars(line), {
    'eval/multi-tool/pass_rate': 0.5,
    'eval/multi-tool/ci95_low': 0.25,
    'eval/multi-tool/pass_at_k/5': 0.75,
  });
  assert.equal(evaluationScalars({ step: 1, split: 'held-out', loss: 2 }), { 'eval/loss': 2 });
});

test('lines of the same step are one row, rows are in order, and times go back by what each took', () => {
  const metrics = [1, 2].map((step) => ({ step, seconds: 10, loss: step }));
  const evaluations = [0, 2].map((step) => ({ step, seconds: 5, mode: 'no-tools', n: step }));
  assert.equal(
    joinLines(metrics, evaluations, 1000).map(({ step, time }) => [step, time]),
    [
      [0, 975],
      [1, 985],
      [2, 1000],
    ],
  );
  assert.equal(joinLines(metrics, evaluations, 1000)[2]!.scalars, {
    'train/seconds': 10,
    'train/loss': 2,
    'eval/no-tools/seconds': 5,
    'eval/no-tools/n': 2,
  });
});

test.run();
