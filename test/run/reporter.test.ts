import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluationLine, textReporter } from '../../lib/run/index.js';
import type { EvaluationRecord } from '../../lib/run/index.js';
import { screen } from '../terminal/screen.js';

test('a run on a terminal: warnings and messages stay above the live line, a finished step takes it away', () => {
  const terminal = screen();
  const reporter = textReporter(terminal.stream);
  reporter.run('runs/x', 0);
  reporter.progress({ label: 'step 1/3', done: 1, total: 8, unit: 'episodes' });
  reporter.warning('a\n  warning');
  reporter.message('a message');
  const shown = ['run folder runs/x', 'warning: a warning', 'a message'];
  assert.equal(terminal.rows(), [...shown, 'step 1/3 ███░░░░░░░░░░░░░░░░░░░░░ 1/8 episodes']);
  reporter.step({ step: 1 }, 'step 1/3  reward 0.500');
  assert.equal(terminal.rows(), [...shown, 'step 1/3  reward 0.500', '']);
  reporter.progress({ label: 'step 2/3', done: 0, total: 8 });
  reporter.idle();
  assert.equal(terminal.rows(), [...shown, 'step 1/3  reward 0.500', '']);
});

test('an evaluation shows its pass rate, or its mean reward where nothing can pass', () => {
  const record = {
    step: 4,
    mode: 'multi-tool',
    n: 8,
    episodes_invalid: 0,
    seconds: 2,
    reward_mean: 0.25,
    ci95: [0.1, 0.6],
  };
  const line = (pass_rate: number | null) => evaluationLine({ ...record, pass_rate } as EvaluationRecord);
  assert.is(line(0.5), 'evaluation  step 4  multi-tool  pass 50%  [10%, 60%]  n 8  2.0 s');
  assert.is(line(null), 'evaluation  step 4  multi-tool  reward 0.250  n 8  2.0 s');
});

test.run();
