import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { groupAdvantages, selectRows } from '../../lib/algorithms/index.js';
import type { ScoredRow } from '../../lib/algorithms/index.js';

const scored = (id: number, reward: number | null, mask = [0, 1, 1]): ScoredRow => ({
  row: { ids: Int32Array.from([0, id, id]), mask: Uint8Array.from(mask), samplerLogprobs: Float32Array.from([-1, -2]) },
  reward,
});
const select = (groups: ScoredRow[][], constantGroups: 'drop' | 'keep' = 'drop') => {
  const rewards = groups.map((group) => group.map((entry) => entry.reward));
  return selectRows(groups, groupAdvantages(rewards, { epsilon: 0 }), { constantGroups, temperature: 0.7 });
};

test('a row carries its own advantage, the temperature and the sampler log-probs, and no old ones', () => {
  const { rows } = select([[scored(1, 1), scored(2, 0)]]);
  assert.is(rows.length, 2);
  assert.equal([...Array.from(rows[0]!.ids)], [0, 1, 1]);
  assert.ok(Math.abs((rows[0]!.advantage as number) - Math.SQRT1_2) < 1e-12);
  assert.ok(Math.abs((rows[1]!.advantage as number) + Math.SQRT1_2) < 1e-12);
  assert.is(rows[0]!.temperature, 0.7);
  assert.is(rows[0]!.oldLogprobs, undefined);
  assert.equal(Array.from(rows[0]!.samplerLogprobs!), [-1, -2]);
});

test('constant groups leave the update whole and are counted', () => {
  const selection = select([
    [scored(1, 1), scored(2, 1)],
    [scored(3, 1), scored(4, 0)],
  ]);
  assert.equal(
    selection.rows.map((row) => row.ids[1]),
    [3, 4],
  );
  assert.is(selection.constantGroups, 1);
});

test('kept constant groups enter with advantage 0', () => {
  const selection = select([[scored(1, 1), scored(2, 1)]], 'keep');
  assert.equal(
    selection.rows.map((row) => row.advantage),
    [0, 0],
  );
  assert.is(selection.constantGroups, 1);
});

test('invalid episodes and rows without a sampled token never enter', () => {
  const selection = select([[scored(1, 1), scored(2, 0), scored(3, null), scored(4, 0.5, [1, 0, 0])]]);
  assert.equal(
    selection.rows.map((row) => row.ids[1]),
    [1, 2],
  );
  assert.is(selection.invalid, 1);
  assert.is(selection.empty, 1);
});

test.run();
