import { truncateSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/policy/index.js';
import { copyModel, rejects, safetensorsBytes } from '../model/fixture-folder.js';
import { modelFolder, readExpected } from '../numeric/fixtures.js';
import { changedTensors, fixtureRows, stateOf } from './rows.js';

const NAME = 'llama-tiny';
const rows = fixtureRows(NAME);

test('train full refuses a model of more than 200 million weights before anything is loaded', async () => {
  const vocabulary = 3_200_000;
  const folder = copyModel(NAME, { vocab_size: vocabulary, tie_word_embeddings: true });
  // Only names, shapes and sizes are read before the refusal, so the file is sparse: it takes no room.
  const path = join(folder, 'model.safetensors');
  const file = readFileSync(path);
  const text = file.subarray(8, 8 + Number(file.readBigUInt64LE(0))).toString();
  const header = JSON.parse(text) as Record<string, { dtype: string; shape: number[] }>;
  let end = 0;
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__' && name !== 'lm_head.weight')
    .map(([name, { dtype, shape }]) => {
      const sizes = name === 'model.embed_tokens.weight' ? [vocabulary, 64] : shape;
      const begin = end;
      end += sizes.reduce((product, size) => product * size, 4);
      return [name, { dtype, shape: sizes, data_offsets: [begin, end] }];
    });
  const start = safetensorsBytes(Object.fromEntries(entries) as object, 0);
  writeFileSync(path, start);
  truncateSync(path, start.length + end);
  await rejects(
    Policy.load(folder, { train: 'full' }),
    'INVALID_ARGUMENT',
    /train 'full' takes models of 200 million weights at most, but .* has 205 million; use train: 'lora'/,
  );
});

test('a policy of full weights has no adapter to save', async () => {
  const policy = await Policy.load(modelFolder(NAME), { train: 'full' });
  await rejects(policy.saveAdapter('/nowhere'), 'INVALID_ARGUMENT', /no adapter; save its weights with exportMerged/);
  await policy.close();
});

for (const train of ['lora', 'full'] as const) {
  const load = () => Policy.load(modelFolder(NAME), { train });

  test(`${train}: learning rate 0 changes no weight, while the moments move`, async () => {
    const policy = await load();
    await policy.update({ rows });
    const before = await stateOf(policy);
    const stats = await policy.update({ rows, optimizer: { learningRate: 0, weightDecay: 0.1 } });
    assert.is(stats.skipped, null);
    const changed = changedTensors(before, await stateOf(policy));
    assert.equal(
      changed.filter((name) => !name.endsWith('_moment')),
      [],
    );
    assert.ok(changed.length > 0, 'the moments are those of two gradients');
    await policy.close();
  });

  test(`${train}: every trained matrix has a gradient after two updates`, async () => {
    const targetModules = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
    const policy = await Policy.load(modelFolder(NAME), {
      train,
      ...(train === 'lora' ? { lora: { targetModules } } : {}),
    });
    for (let step = 0; step < 2; step++) await policy.update({ rows, optimizer: { learningRate: 1e-3 } });
    const state = await stateOf(policy);
    const moments = [...state].filter(([name]) => name.endsWith('.second_moment'));
    assert.is(moments.length, train === 'lora' ? 2 * 7 * 3 : 30);
    for (const [name, values] of moments)
      assert.ok(
        values.some((value) => value > 0),
        `${name} is all zero`,
      );
    await policy.close();
  });

  test(`${train}: a gradient that is not finite skips the step and leaves weights and moments as they are`, async () => {
    const policy = await load();
    await policy.update({ rows });
    const before = await stateOf(policy);
    const inputs = rows.map(({ ids }) => ids);
    const logprobs = await policy.logprobs(inputs);
    const huge = rows.map((row) => ({ ...row, advantage: 1e300 }));
    const stats = await policy.update({ rows: huge, optimizer: { learningRate: 1 } });
    assert.match(stats.skipped ?? '', /the gradient is not finite/);
    assert.is(policy.weightsVersion, 1);
    assert.equal(changedTensors(before, await stateOf(policy)), []);
    assert.equal(await policy.logprobs(inputs), logprobs);
    const next = await policy.update({ rows });
    assert.is(next.skipped, null, 'the policy goes on');
    assert.ok(Number.isFinite(next.gradNorm));
    await policy.close();
  });
}

test('a gradient whose squares leave float32 skips the step unless it is clipped', async () => {
  const policy = await Policy.load(modelFolder(NAME));
  const huge = rows.map((row) => ({ ...row, advantage: row.advantage === 1.25 ? 1e22 : -1e22 }));
  const stats = await policy.update({ rows: huge, optimizer: { maxGradNorm: Infinity } });
  assert.match(stats.skipped ?? '', /too large for float32 moments; set maxGradNorm/);
  assert.is((await policy.update({ rows: huge })).skipped, null);
  await policy.close();
});

test('an adapter whose outputs overflow gives a skipped step, not a poisoned one', async () => {
  const policy = await Policy.load(modelFolder(NAME), { lora: { alpha: 1e38, rank: 1 } });
  // The first step makes B non-zero; scaled by alpha the next forward pass is infinite.
  assert.is((await policy.update({ rows, optimizer: { learningRate: 1 } })).skipped, null);
  const before = await stateOf(policy);
  const stats = await policy.update({ rows });
  assert.match(stats.skipped ?? '', /the loss is not finite/);
  assert.equal(changedTensors(before, await stateOf(policy)), []);
  await policy.close();
});

test('rank-stabilised LoRA divides alpha by the root of the rank', async () => {
  const { inputs } = readExpected(NAME);
  // alpha / sqrt(4) with alpha 3 is alpha / 4 with alpha 6: from one seed both train alike.
  const results = [];
  for (const lora of [
    { rank: 4, alpha: 3, rankStabilised: true },
    { rank: 4, alpha: 6, rankStabilised: false },
    { rank: 4, alpha: 3, rankStabilised: false },
  ]) {
    const policy = await Policy.load(modelFolder(NAME), { lora });
    await policy.update({ rows, optimizer: { learningRate: 1e-2 } });
    results.push(await policy.logprobs(inputs));
    await policy.close();
  }
  assert.equal(results[0], results[1]);
  assert.not.equal(results[0], results[2]);
});

test.run();
