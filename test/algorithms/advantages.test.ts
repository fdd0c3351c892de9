import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { groupAdvantages, sampleDeviation } from '../../lib/algorithms/index.js';

const cases = JSON.parse(readFileSync(new URL('../fixtures/algorithms.json', import.meta.url), 'utf8')) as Record<
  string,
  { r: number[]; A: number[] }
>;

const near = (actual: number[], expected: number[]) => {
  assert.is(actual.length, expected.length);
  actual.forEach((value, index) =>
    assert.ok(Math.abs(value - expected[index]!) < 1e-6, `${value} ~ ${expected[index]}`),
  );
};
const of = (rewards: (number | null)[], options = {}) => groupAdvantages([rewards], options)[0]!;

test('advantages use the sample deviation and 1e-4 by default', () => {
  near(of(cases['grpo.sample.1e-4']!.r).advantages, cases['grpo.sample.1e-4']!.A);
});

test('epsilon is the number that is given', () => {
  near(of(cases['grpo.sample.1e-6']!.r, { epsilon: 1e-6 }).advantages, cases['grpo.sample.1e-6']!.A);
});

test('without scale the rewards are only centred', () => {
  near(of(cases['drgrpo']!.r, { scale: 'none' }).advantages, cases['drgrpo']!.A);
});

test('a constant group has advantages of exactly 0', () => {
  const group = of(cases['grpo.zero']!.r);
  assert.equal(group.advantages, [0, 0, 0, 0]);
  assert.ok(group.constant);
});

test('rewards within 1e-6 are constant, a little more is not', () => {
  assert.ok(of([0.5 + 1e-6 - 1e-9, 0.5]).constant);
  assert.not(of([0.5 + 2e-6, 0.5]).constant);
});

test('eight equal rewards that are no binary fraction leave no residue', () => {
  assert.equal(of([...Array<number>(8).fill(0.35)]).advantages, Array(8).fill(0));
  assert.is(sampleDeviation(Array<number>(7).fill(0.35)), 0);
});

test('invalid episodes are in no statistic and get 0', () => {
  const group = of([1, null, 0, 0.05, -0.1, null]);
  const [a, b, c, d] = cases['grpo.sample.1e-4']!.A as [number, number, number, number];
  near(group.advantages, [a, 0, b, c, d, 0]);
  assert.is(group.valid, 4);
});

test('a group with one valid episode or none is constant, never NaN', () => {
  assert.equal(of([1, null, null]), { advantages: [0, 0, 0], constant: true, valid: 1 });
  assert.equal(of([null, null]), { advantages: [0, 0], constant: true, valid: 0 });
});

test('batch scale divides by the deviation of all valid rewards of the batch', () => {
  const [first, second, third] = groupAdvantages(
    [
      [1, 0],
      [3, 1, null],
      [7, 7],
    ],
    { scale: 'batch', epsilon: 0 },
  );
  const rewards = [1, 0, 3, 1, 7, 7];
  const mean = 19 / 6;
  const deviation = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / 5);
  near(first!.advantages, [0.5 / deviation, -0.5 / deviation]);
  near(second!.advantages, [1 / deviation, -1 / deviation, 0]);
  assert.equal(third!.advantages, [0, 0]);
});

test.run();
