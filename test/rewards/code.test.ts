import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { codeReward, countSearches } from '../../lib/rewards/code.js';
import type { EpisodeTurn, RewardContext } from '../../lib/environments/types.js';

const turn = (query: string) => ({ calls: [{ tool: 'search', args: { query } }] }) as unknown as EpisodeTurn;
const score = (outcome: unknown, searches: number, options = {}) =>
  codeReward(options).score({
    outcome,
    turns: Array.from({ length: searches }, (_, n) => turn(`q${n}`)),
  } as unknown as RewardContext);

test('the four outcomes of the reference are worth 1, 0, 0.05 and -0.1', () => {
  const values = [
    score({ passed: true, submitted: true, graded: true }, 2),
    score({ passed: false, submitted: true, graded: true }, 0),
    score({ passed: false, submitted: true, graded: true }, 1),
    score({ passed: false, submitted: false, graded: false }, 3),
  ].map((result) => (result as { value: number }).value);
  assert.equal(values, [1, 0, 0.05, -0.1]);
});

test('the search bonus stops at three searches', () => {
  const five = score({ passed: false, submitted: true, graded: true }, 5) as {
    value: number;
    parts: Record<string, number>;
  };
  assert.ok(Math.abs(five.value - 0.15) < 1e-12);
  assert.is(five.parts['passed'], 0);
});

test('an episode without an outcome never submitted', () => {
  assert.equal(score(undefined, 0), { value: -0.1, parts: { passed: 0, searches: 0, noSubmission: -0.1 } });
});

test('code that was graded without a submission counts only where the mode has none', () => {
  const graded = { passed: true, submitted: false, graded: true };
  assert.is((score(graded, 0) as { value: number }).value, -0.1);
  assert.is((score(graded, 0, { withoutSubmissions: true }) as { value: number }).value, 1);
});

test('an episode that could not be judged is invalid, never 0', () => {
  assert.equal(score({ passed: false, submitted: false, graded: true, invalid: 'sandbox: full' }, 0), {
    invalid: 'sandbox: full',
  });
});

test('different searches are counted without case and spaces', () => {
  const turns = ['a  b', 'A b', 'c'].map(turn);
  assert.is(countSearches(turns, false), 3);
  assert.is(countSearches(turns, true), 2);
});

test.run();
