import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changedMost, choicesAmong, chooseGroups, orderGroups } from '../../lib/report/choose-groups.js';
import type { GroupSummary } from '../../lib/report/types.js';

const group = (step: number, task: string, rewardMean: number | null): GroupSummary => ({
  step,
  group: 0,
  task,
  samples: 2,
  invalid: 0,
  rewardMean,
  passRate: null,
});
const GROUPS = [group(1, 'a', 0.1), group(2, 'b', 0.9), group(3, 'c', null), group(4, 'a', 0.8), group(5, 'b', 0.5)];
const steps = (groups: readonly GroupSummary[]) => groups.map(({ step }) => step);

test('filters order all groups their way, and groups without a reward are neither best nor worst', () => {
  assert.equal(steps(orderGroups(GROUPS, 'first')), [1, 2, 3, 4, 5]);
  assert.equal(steps(orderGroups(GROUPS, 'last')), [5, 4, 3, 2, 1]);
  assert.equal(steps(orderGroups(GROUPS, 'best')), [2, 4, 5, 1]);
  assert.equal(steps(orderGroups(GROUPS, 'worst')), [1, 5, 4, 2]);
});

test('changed most are the first and last group of the task whose reward moved furthest', () => {
  assert.equal(changedMost(GROUPS).map(steps), [
    [1, 4],
    [2, 5],
  ]);
  assert.equal(changedMost([group(1, 'a', 1), group(2, 'a', 1), group(2, 'b', 0)]), []);
});

test('a small run is embedded whole, a long one by its most telling groups', () => {
  assert.equal(steps(chooseGroups(GROUPS)).sort(), [1, 2, 3, 4, 5]);
  const long = Array.from({ length: 500 }, (_, index) =>
    group(index + 1, `t${index % 50}`, ((index * 37) % 101) / 100),
  );
  const chosen = chooseGroups(long);
  assert.is(chosen.length, 24);
  assert.is(new Set(chosen).size, 24);
  assert.ok([1, 2, 3, 4, 497, 498, 499, 500].every((step) => steps(chosen).includes(step)));
  for (const filter of ['best', 'worst', 'changed'] as const) {
    assert.ok(
      orderGroups(long, filter)
        .slice(0, 4)
        .every((one) => chosen.includes(one)),
      filter,
    );
  }
});

test('choices name embedded groups only, and never call the rest of them best', () => {
  const long = Array.from({ length: 100 }, (_, index) => group(index + 1, `t${index}`, index / 100));
  const embedded = chooseGroups(long);
  const choices = choicesAmong(long, embedded);
  assert.equal(
    choices.best.map((index) => embedded[index]!.step),
    [100, 99, 98, 97],
  );
  assert.equal(choices.changed, []);
  assert.is(choices.all.length, embedded.length);
});

test.run();
