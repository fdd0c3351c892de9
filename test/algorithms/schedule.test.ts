import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { learningRateFactor } from '../../lib/algorithms/index.js';

const factors = (schedule: 'constant' | 'cosine' | 'linear', warmupSteps: number, steps: number) =>
  Array.from({ length: steps }, (_, index) => learningRateFactor(index + 1, { schedule, warmupSteps, steps }));
const near = (actual: number[], expected: number[]) =>
  actual.forEach((value, index) => assert.ok(Math.abs(value - expected[index]!) < 1e-12, `${actual.join(' ')}`));

test('a constant rate stays at its peak after the warm-up', () => {
  near(factors('constant', 0, 3), [1, 1, 1]);
  near(factors('constant', 4, 6), [0.25, 0.5, 0.75, 1, 1, 1]);
});

test('a linear rate falls evenly and the last step still learns', () => {
  near(factors('linear', 0, 4), [1, 0.75, 0.5, 0.25]);
  near(factors('linear', 2, 6), [0.5, 1, 1, 0.75, 0.5, 0.25]);
});

test('a cosine rate is at half its peak in the middle', () => {
  near(factors('cosine', 0, 4), [1, 0.5 * (1 + Math.SQRT1_2), 0.5, 0.5 * (1 - Math.SQRT1_2)]);
});

test.run();
