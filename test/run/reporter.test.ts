import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluationLine, textReporter } from '../../lib/run/index.js';
import type { EvaluationRecord } from '../../lib/run/index.js';

function written(isTTY: boolean): { reporter: ReturnType<typeof textReporter>; lines: string[] } {
  const lines: string[] = [];
  const output = { isTTY, write: (text: string) => lines.push(text) > 0 };
  return { reporter: textReporter(output as unknown as NodeJS.WriteStream), lines };
}

test('without a terminal, work shows where it begins and ends, and not every episode', () => {
  const { reporter, lines } = written(false);
  for (let done = 0; done <= 32; done++) reporter.progress('step 1/3', done, 32);
  reporter.progress('step 2/3', 0, 32);
  assert.equal(lines, [
    'step 1/3: 0 of 32 episodes\n',
    'step 1/3: 32 of 32 episodes\n',
    'step 2/3: 0 of 32 episodes\n',
  ]);
});

test('on a terminal the count is overwritten in place', () => {
  const { reporter, lines } = written(true);
  reporter.progress('step 1/3', 1, 32);
  reporter.progress('step 1/3', 2, 32);
  assert.is(lines.length, 2);
  assert.ok(lines.every((line) => line.startsWith('\r\u001b[2K') && !line.endsWith('\n')));
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
