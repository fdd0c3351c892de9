import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { durationText } from '../../lib/terminal/duration.js';
import { ProgressLine, progressText } from '../../lib/terminal/progress.js';
import { screen } from './screen.js';

const work = {
  label: 'step 3/100',
  done: 12,
  total: 32,
  unit: 'episodes',
  facts: ['148 tok/s', 'pass 31%', 'reward 0.42'],
  leftSeconds: 3900,
};

test('durations have two units at most', () => {
  assert.equal([0, 59.4, 90, 3540, 3900, 200_000].map(durationText), [
    '0 s',
    '59 s',
    '2 min',
    '59 min',
    '1 h 05 min',
    '2 days',
  ]);
});

test('work shows what it is, a bar, the count, the facts and the time left', () => {
  assert.is(
    progressText(work, 120, 0),
    'step 3/100 █████████░░░░░░░░░░░░░░░ 12/32 episodes  148 tok/s  pass 31%  reward 0.42  1 h 05 min left',
  );
});

test('where there is less room the bar shrinks, then the last facts go', () => {
  const narrow = progressText(work, 69, 0);
  assert.is(narrow, 'step 3/100 ███░░░░░░ 12/32 episodes  148 tok/s  pass 31%  reward 0.42');
  for (let columns = 30; columns < 130; columns++) assert.ok(progressText(work, columns, 0).length <= columns);
  assert.is(progressText(work, 30, 0), 'step 3/100 12/32 episodes');
});

test('work without an end shows the time so far', () => {
  assert.is(
    progressText({ label: 'step 3/100: update', facts: ['31 rows'] }, 80, 12),
    'step 3/100: update (12 s)  31 rows',
  );
});

test('on a terminal one line is overwritten, and printed lines stay above it', () => {
  const terminal = screen();
  const line = new ProgressLine(terminal.stream);
  for (let done = 0; done <= 4; done++) line.show({ label: 'evaluation', done, total: 4 });
  line.print('warning: something');
  assert.equal(terminal.rows(), ['warning: something', 'evaluation ████████████████████████ 4/4']);
  line.clear();
  assert.equal(terminal.rows(), ['warning: something', '']);
});

test('elsewhere work is silent until nothing was said for half a minute', () => {
  const lines: string[] = [];
  let ms = 0;
  const line = new ProgressLine({ write: (text: string) => lines.push(text) }, '', () => ms);
  line.show(work);
  ms = 20_000;
  line.print('something else');
  ms = 40_000;
  line.show(work);
  assert.equal(lines, ['something else\n']);
  ms = 51_000;
  line.show(work);
  ms = 52_000;
  line.show({ ...work, done: 13 });
  assert.equal(lines, ['something else\n', 'step 3/100: 12 of 32 episodes  148 tok/s  pass 31%  reward 0.42\n']);
});

test.run();
