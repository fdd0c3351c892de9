import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { planShards } from '../../lib/model/model-writer.js';
import { Policy, type LoadOptions } from '../../lib/policy/index.js';
import { copyModel, rejects, temporaryFolder } from '../model/fixture-folder.js';
import { difference, modelFolder, MODELS, readExpected } from '../numeric/fixtures.js';
import { readSafetensorsValues } from '../numeric/safetensors-values.js';
import { fixtureRows } from './rows.js';

const ALL = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

async function trained(name: string, options: LoadOptions): Promise<Policy> {
  const policy = await Policy.load(modelFolder(name), options);
  for (let step = 0; step < 2; step++) {
    await policy.update({ rows: fixtureRows(name), optimizer: { learningRate: 1e-2 } });
  }
  return policy;
}

for (const name of MODELS) {
  const { inputs } = readExpected(name);
  const cases: [string, LoadOptions][] = [
    ['adapter', { lora: { rank: 4, rankStabilised: true, targetModules: ALL } }],
    ['every weight', { train: 'full' }],
  ];
  for (const [what, options] of cases) {
    test(`${name}: the merged folder of a trained ${what} has the same log-probs, and the base is untouched`, async () => {
      const before = readFileSync(join(modelFolder(name), 'model.safetensors'));
      const policy = await trained(name, options);
      const folder = join(temporaryFolder(), 'merged');
      await policy.exportMerged(folder);
      const wanted = await policy.logprobs(inputs);
      assert.ok(difference(wanted, readExpected(name).logprobs).max > 1e-2, 'the policy has moved');
      const merged = await Policy.load(folder, { train: 'none' });
      const found = difference(await merged.logprobs(inputs), wanted);
      assert.ok(found.max < 1e-5 * 4 && found.mean < 1e-5, `max ${found.max}, mean ${found.mean}`);
      assert.is(merged.description.parameters, policy.description.parameters);
      assert.equal(readdirSync(folder).sort(), ['config.json', 'generation_config.json', 'model.safetensors']);
      const config = readJson(join(folder, 'config.json'));
      assert.is(config.tie_word_embeddings, name !== 'llama-tiny');
      const names = [...readSafetensorsValues(join(folder, 'model.safetensors')).keys()];
      assert.is(names.includes('lm_head.weight'), name === 'llama-tiny');
      assert.ok(readFileSync(join(modelFolder(name), 'model.safetensors')).equals(before));
      await merged.close();
      await policy.close();
    });
  }
}

test('a size limit gives several files with an index, which load to the same log-probs', async () => {
  const { inputs } = readExpected('qwen2-tiny');
  const policy = await trained('qwen2-tiny', { lora: { targetModules: ALL } });
  const folder = join(temporaryFolder(), 'merged');
  await policy.exportMerged(folder, { maxShardBytes: 100_000 });
  const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
  assert.ok(files.length > 2, files.join());
  assert.ok(files.every((name) => new RegExp(`^model-0000\\d-of-0000${files.length}\\.safetensors$`).test(name)));
  const index = readJson(join(folder, 'model.safetensors.index.json')) as {
    metadata: { total_size: number };
    weight_map: Record<string, string>;
  };
  assert.is(index.metadata.total_size, 4 * policy.description.parameters);
  assert.equal([...new Set(Object.values(index.weight_map))].sort(), files.sort());
  const merged = await Policy.load(folder, { train: 'none' });
  assert.ok(difference(await merged.logprobs(inputs), await policy.logprobs(inputs)).max < 4e-5);
  await merged.close();
  await policy.close();
});

test('shards are filled in order, and a tensor larger than the limit has a file of its own', () => {
  const tensor = (name: string, elements: number) => ({
    name,
    dtype: 'F32',
    shape: [elements],
    data: new Uint8Array(),
  });
  const shards = planShards([tensor('a', 2), tensor('b', 2), tensor('c', 9), tensor('d', 1), tensor('e', 3)], 16);
  assert.equal(
    shards.map((shard) => shard.map(({ name }) => name)),
    [['a', 'b'], ['c'], ['d', 'e']],
  );
});

test('tokenizer, template and licence files come along, weights of other formats and notes do not', async () => {
  const source = copyModel('llama-tiny');
  mkdirSync(join(source, 'additional_chat_templates'));
  const kept = ['chat_template.jinja', 'LICENSE', 'additional_chat_templates/tools.jinja', 'special_tokens_map.json'];
  const left = ['README.md', 'notes.txt', 'pytorch_model.bin'];
  for (const name of [...kept, ...left]) writeFileSync(join(source, name), `content of ${name}`);
  const policy = await Policy.load(source);
  const folder = join(temporaryFolder(), 'merged');
  await policy.exportMerged(folder);
  for (const name of kept) assert.is(readFileSync(join(folder, name), 'utf8'), `content of ${name}`);
  for (const name of left) assert.not.ok(existsSync(join(folder, name)), name);
  await policy.close();
});

test('a bfloat16 base stays bfloat16 when merged, and float32 keeps the whole of a full update', async () => {
  const source = join(temporaryFolder(), 'bfloat16');
  const { inputs } = readExpected('llama-tiny');
  const start = await Policy.load(modelFolder('llama-tiny'));
  await start.exportMerged(source, { dtype: 'bfloat16' });
  await start.close();
  assert.is(readJson(join(source, 'config.json')).dtype, 'bfloat16');

  const rows = fixtureRows('llama-tiny');
  const full = await Policy.load(source, { train: 'full' });
  assert.is(full.description.dtype, 'float32');
  await full.update({ rows, optimizer: { learningRate: 1e-5 } });
  const folder = join(temporaryFolder(), 'full');
  await full.exportMerged(folder);
  assert.is(readJson(join(folder, 'config.json')).dtype, 'float32');
  const reloaded = await Policy.load(folder, { train: 'none' });
  assert.equal(await reloaded.logprobs(inputs), await full.logprobs(inputs));
  await full.close();
  await reloaded.close();

  const lora = await Policy.load(source, { dtype: 'float32' });
  await lora.update({ rows, optimizer: { learningRate: 1e-2 } });
  await lora.update({ rows, optimizer: { learningRate: 1e-2 } });
  const merged = join(temporaryFolder(), 'merged');
  await lora.exportMerged(merged);
  assert.is(readJson(join(merged, 'config.json')).dtype, 'bfloat16');
  const narrow = await Policy.load(merged, { train: 'none', dtype: 'float32' });
  assert.is(narrow.description.dtype, 'float32');
  const rounding = difference(await narrow.logprobs(inputs), await lora.logprobs(inputs));
  assert.ok(rounding.mean < 0.02 && rounding.max > 0, `only the rounding differs: mean ${rounding.mean}`);
  await lora.close();
  await narrow.close();
});

test('what cannot be exported says why', async () => {
  const none = await Policy.load(modelFolder('llama-tiny'), { train: 'none' });
  const folder = join(temporaryFolder(), 'merged');
  await rejects(none.exportMerged(folder), 'INVALID_ARGUMENT', /base model as it is: nothing to merge/);
  await none.close();
  const policy = await Policy.load(modelFolder('llama-tiny'));
  await rejects(policy.exportMerged(modelFolder('llama-tiny')), 'INVALID_ARGUMENT', /holds other files/);
  await rejects(
    policy.exportMerged(folder, { maxShardBytes: 0 }),
    'INVALID_ARGUMENT',
    /maxShardBytes must be a number >= 1/,
  );
  await policy.close();
});

test('a merge that is not finite saves nothing', async () => {
  const policy = await Policy.load(modelFolder('llama-tiny'), { lora: { rank: 1, alpha: 3e38 } });
  await policy.update({ rows: fixtureRows('llama-tiny'), optimizer: { learningRate: 10 } });
  const parent = temporaryFolder();
  await rejects(
    policy.exportMerged(join(parent, 'merged')),
    'INVALID_MODEL',
    /layers\.0\.q_proj\.weight holds values that are not finite/,
  );
  assert.equal(readdirSync(parent), []);
  await policy.close();
});

test.run();
