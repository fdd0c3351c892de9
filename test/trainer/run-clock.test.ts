import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RunClock } from '../../lib/trainer/run-clock.js';

test('the time left follows the last ten steps, without what came before the first', () => {
  let now = 0;
  const clock = new RunClock(() => now);
  now = 500; // the first evaluation
  clock.restart();
  assert.is(clock.secondsLeft(10), undefined);
  now = 600;
  clock.step();
  assert.is(clock.secondsLeft(9), 900);
  now = 630;
  assert.is(clock.secondsLeft(9), 870, 'the present step is under way');
  for (let step = 0; step < 11; step++) {
    now += 10;
    clock.step();
  }
  now = 1000;
  clock.restart();
  assert.is(clock.secondsLeft(2), 20);
});

test('a step that takes longer than all before never gives a negative time', () => {
  let now = 0;
  const clock = new RunClock(() => now);
  now = 5;
  clock.step();
  now = 60;
  assert.is(clock.secondsLeft(1), 0);
});

test.run();
