import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bootstrapInterval, passAtK } from '../../lib/algorithms/index.js';

const { passk } = JSON.parse(readFileSync(new URL('../fixtures/algorithms.json', import.meta.url), 'utf8')) as {
  passk: [number, number, number, number][];
};

test('pass@k agrees with the published cases', () => {
  for (const [n, c, k, expected] of passk) assert.ok(Math.abs(passAtK(n, c, k) - expected) < 1e-6, `${n} ${c} ${k}`);
  assert.is(passk.length, 7);
});

test('k above the number of samples is an error', () => {
  assert.throws(() => passAtK(4, 1, 5), /k must lie in 1\.\.4/);
});

test('the interval holds the mean, is the same for the same seed, and closes for equal tasks', () => {
  const values = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1];
  const [low, high] = bootstrapInterval(values, 7);
  assert.ok(low < 0.7 && high > 0.7, `${low} ${high}`);
  assert.ok(low >= 0.3 && low <= 0.5, `low ${low}`);
  assert.ok(high >= 0.9 && high <= 1, `high ${high}`);
  assert.equal(bootstrapInterval(values, 7), [low, high]);
  assert.equal(bootstrapInterval([1, 1, 1], 7), [1, 1]);
});

test.run();
