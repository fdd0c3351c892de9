import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EpisodeTurn, Reward } from '../../lib/environments/types.js';
import { withChoices } from '../../lib/launch/environment-source.js';
import { codeReward, outcomeReward, stagedReward, testFractionReward } from '../../lib/rewards/code.js';
import { checkRewardOrder, rewardRange } from '../../lib/rewards/order.js';
import { testFraction } from '../../lib/tools/submit.js';
import { codeAgent } from '../../lib/environments/code-agent/index.js';
import { FakeSandbox } from '../environments/fake-sandbox.js';

const turn = (calls: number, malformed: number) =>
  ({
    calls: Array.from({ length: calls }, () => ({ tool: 'execute', args: {} })),
    malformed: Array(malformed).fill('cut'),
  }) as unknown as EpisodeTurn;
const score = async (reward: Reward, outcome: object, turns: EpisodeTurn[] = [turn(1, 0)]) => {
  const { signal } = new AbortController();
  const context = { task: { id: 'a', prompt: '' }, turns, outcome, messages: [], finish: 'done' as const, signal };
  return reward.score(context);
};
const submitted = (passed: boolean, fraction = Number(passed)) => ({ passed, submitted: true, graded: true, fraction });

test('outcome pays all or nothing, test-fraction the share of tests, both nothing without a submission', async () => {
  assert.equal(await score(outcomeReward(), submitted(true)), 1);
  assert.equal(await score(outcomeReward(), submitted(false, 7 / 8)), 0);
  assert.equal(await score(testFractionReward(), submitted(false, 7 / 8)), 7 / 8);
  const unsubmitted = { passed: true, submitted: false, graded: true, fraction: 1 };
  assert.equal(await score(outcomeReward(), unsubmitted), 0);
  assert.equal(await score(testFractionReward(), unsubmitted), 0);
  assert.equal(await score(outcomeReward({ withoutSubmissions: true }), unsubmitted), 1);
  assert.equal(await score(outcomeReward(), { invalid: 'sandbox' }), { invalid: 'sandbox' });
});

test('staged: passed, a ratio of 0.75 valid calls and four of five turns make 1.07', async () => {
  const turns = [turn(1, 0), turn(1, 0), turn(1, 0), turn(0, 1)];
  const { value, parts } = (await score(stagedReward(), submitted(true), turns)) as { value: number; parts: object };
  assert.ok(Math.abs(value - 1.07) < 1e-12, String(value));
  assert.equal(Object.keys(parts), ['passed', 'validCalls', 'turns']);
  const none = (await score(stagedReward(), submitted(false), [turn(0, 0)])) as { value: number };
  assert.ok(Math.abs(none.value + 0.02) < 1e-12, 'no calls give no share');
});

test('the share of tests counts all that there are, also those that never ran', () => {
  const result = (extra: object) => testFraction({ status: 'fail', testsRun: 4, failures: [], wallMs: 1, ...extra });
  assert.is(result({ testsFound: 10, testsPassed: 4, failures: [{ name: 'a', message: '' }] }), 0.4);
  assert.is(result({ failures: [{ name: 'a', message: '' }] }), 0.75);
  assert.is(result({ testsFound: 4, testsPassed: 4 }), 0.75, 'what did not pass is never whole');
  assert.is(result({ status: 'timeout' }), 0);
  assert.is(result({ status: 'pass' }), 1);
});

test('any passing episode earns more than any failing one, or the rewards are refused', () => {
  checkRewardOrder([codeReward()]);
  checkRewardOrder([stagedReward()]);
  checkRewardOrder([outcomeReward(), { ...testFractionReward(), weight: 0.5 }]);
  assert.equal(rewardRange([codeReward(), { ...stagedReward(), weight: 2 }]), {
    leastPassed: 1 + 2 * 0.9,
    mostFailed: 0.05 * 3 + 2 * 0.2,
    unbounded: [],
  });
  assert.throws(
    () => checkRewardOrder([testFractionReward()]),
    /that fails can earn 1, one that passes may earn only 1/,
  );
  assert.throws(() => checkRewardOrder([{ ...outcomeReward(), weight: -1 }]), /can earn 0, .* only -1/);
  assert.throws(
    () =>
      checkRewardOrder([outcomeReward(), { ...stagedReward(), weight: 5, bounds: { passed: [0, 1], failed: [0, 1] } }]),
    /lower the weight/,
  );
  const own: Reward = { name: 'own', score: () => 1 };
  checkRewardOrder([own]);
  assert.equal(rewardRange([own]).unbounded, ['own']);
});

test('a configuration names rewards of the code agent, with weights', () => {
  const environment = codeAgent({ tasks: [{ id: 'a', prompt: '', test: 'x' }], sandbox: new FakeSandbox() });
  const { rewards } = withChoices(environment, { rewards: ['outcome', 'test-fraction:0.2'] });
  assert.equal(
    rewards.map(({ name, weight }) => [name, weight]),
    [
      ['outcome', 1],
      ['test-fraction', 0.2],
    ],
  );
  assert.throws(() => withChoices(environment, { rewards: ['test-fraction'] }), /set keepOrder to false/);
  assert.is(withChoices(environment, { rewards: ['test-fraction'], keepOrder: false }).rewards.length, 1);
  assert.throws(
    () => withChoices(environment, { rewards: ['pass'] }),
    /reward pass is unknown; the environment has: code, outcome/,
  );
});

test.run();
