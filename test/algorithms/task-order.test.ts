import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deriveSeed, holdOut, nextTasks, randomNumbers } from '../../lib/algorithms/index.js';

const tasks = Array.from({ length: 10 }, (_, index) => index);

test('an epoch hands out every task once, in an order of its own', () => {
  const cursor = { drawn: 0 };
  const first = nextTasks(tasks, cursor, 10, 42);
  const second = nextTasks(tasks, cursor, 10, 42);
  const sorted = (values: number[]) => [...values].sort((left, right) => left - right);
  assert.equal(sorted(first), tasks);
  assert.equal(sorted(second), tasks);
  assert.not.equal(first, second);
  assert.is(cursor.drawn, 20);
});

test('going on from a cursor gives what an uninterrupted run gets', () => {
  const whole = nextTasks(tasks, { drawn: 0 }, 25, 1);
  assert.equal(nextTasks(tasks, { drawn: 7 }, 18, 1), whole.slice(7));
});

test('another seed gives another order', () => {
  assert.not.equal(nextTasks(tasks, { drawn: 0 }, 10, 1), nextTasks(tasks, { drawn: 0 }, 10, 2));
});

test('a tenth is held out and no task is on both sides', () => {
  const many = Array.from({ length: 95 }, (_, index) => index);
  const { training, evaluation } = holdOut(many, 42);
  assert.is(evaluation.length, 9);
  assert.is(training.length, 86);
  assert.is(new Set([...training, ...evaluation]).size, 95);
  assert.is(
    holdOut(
      Array.from({ length: 2000 }, (_, index) => index),
      1,
    ).evaluation.length,
    50,
  );
});

test('derived seeds are whole numbers of 53 bits that differ by every part', () => {
  const seeds = new Set<number>();
  for (let step = 0; step < 50; step++)
    for (let sample = 0; sample < 50; sample++) seeds.add(deriveSeed(42, step, 'task', sample));
  assert.is(seeds.size, 2500);
  for (const seed of seeds) assert.ok(Number.isSafeInteger(seed) && seed >= 0);
  assert.is.not(deriveSeed(1, 23), deriveSeed(12, 3));
});

test('random numbers are spread evenly over [0, 1)', () => {
  const random = randomNumbers(5);
  const bins = Array<number>(10).fill(0);
  for (let draw = 0; draw < 10_000; draw++) bins[Math.floor(random() * 10)]!++;
  for (const filled of bins) assert.ok(filled > 880 && filled < 1120, `${filled}`);
});

test.run();
