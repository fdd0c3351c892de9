import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readAdapter } from '../../lib/model/adapter.js';
import { writeAdapter, type AdapterToWrite } from '../../lib/model/adapter-writer.js';
import { readModelConfig, projectionShape, PROJECTIONS, type ModelConfig } from '../../lib/model/config.js';
import { copyModel, editJson, fixturePath, rejects, temporaryFolder } from './fixture-folder.js';

const llama = () => readModelConfig(fixturePath('llama-tiny'));
/** A writable copy of the llama fixture's adapter with changed fields of adapter_config.json. */
function copyAdapter(change: Record<string, unknown> = {}): string {
  const folder = join(copyModel('llama-tiny'), 'adapter');
  editJson(join(folder, 'adapter_config.json'), change);
  return folder;
}

/** An adapter whose every value is different. */
function numbered(config: ModelConfig, change: Partial<AdapterToWrite> = {}): AdapterToWrite {
  const adapter: AdapterToWrite = {
    rank: 4,
    alpha: 6,
    dropout: 0.05,
    rankStabilised: false,
    targetModules: [...PROJECTIONS],
    layers: [0, 1, 2],
    modelLayers: config.layers,
    baseModel: 'org/name',
    tensors: [],
    ...change,
  };
  let next = 0;
  const tensor = (name: string, shape: number[]) => {
    const data = Float32Array.from({ length: shape[0]! * shape[1]! }, () => ++next / 4096);
    return { name, shape, data };
  };
  adapter.tensors = adapter.layers.flatMap((layer) =>
    adapter.targetModules.flatMap((projection) => {
      const [out, input] = projectionShape(config, projection);
      const name = `layers.${layer}.${projection}`;
      return [tensor(`${name}.lora_A`, [adapter.rank, input]), tensor(`${name}.lora_B`, [out, adapter.rank])];
    }),
  );
  return adapter;
}

test('an adapter that PEFT wrote is read whole', async () => {
  const folder = join(fixturePath('llama-tiny'), 'adapter');
  const { tensors, ...rest } = await readAdapter(folder, await llama(), 4);
  assert.equal(rest, {
    rank: 8,
    alpha: 16,
    dropout: 0,
    rankStabilised: false,
    scaling: 2,
    targetModules: ['q_proj', 'v_proj'],
    layers: [0, 1, 2],
    file: { path: join(folder, 'adapter_model.safetensors'), bytes: 23032 },
  });
  assert.is(Object.keys(tensors).length, 12);
  assert.equal(tensors['layers.2.v_proj.lora_B']!.shape, [32, 8]);
  assert.is(tensors['layers.0.q_proj.lora_A']!.file, 4);
});

test('rank-stabilised scaling is alpha over the root of the rank', async () => {
  const adapter = await readAdapter(copyAdapter({ use_rslora: true, lora_alpha: 12 }), await llama(), 1);
  assert.is(adapter.scaling, 12 / Math.sqrt(8));
});

test('targets may be ends of names, a regular expression or all-linear', async () => {
  const config = await llama();
  const targets = async (change: Record<string, unknown>) =>
    (await readAdapter(copyAdapter(change), config, 1)).targetModules;
  const expected = ['q_proj', 'v_proj'];
  assert.equal(await targets({ target_modules: ['self_attn.v_proj', 'q_proj'] }), expected);
  assert.equal(await targets({ target_modules: '.*\\.(q|v)_proj' }), expected);
  assert.equal(await targets({ target_modules: 'all-linear', exclude_modules: '.*(k_proj|o_proj|mlp.*)' }), expected);
  const wide = ['q_proj', 'v_proj', 'k_proj'];
  assert.equal(await targets({ target_modules: wide, exclude_modules: ['self_attn.k_proj'] }), expected);
});

const REFUSED: [Record<string, unknown>, RegExp][] = [
  [{ peft_type: 'IA3' }, /field "peft_type" must be "LORA".*got "IA3"/],
  [{ task_type: 'SEQ_CLS' }, /field "task_type" must be "CAUSAL_LM"/],
  [{ bias: 'all' }, /field "bias" must be "none"/],
  [{ use_dora: true }, /field "use_dora" is not supported; supported is plain LoRA/],
  [{ lora_bias: true }, /field "lora_bias" is not supported/],
  [{ modules_to_save: ['lm_head'] }, /field "modules_to_save" is not supported/],
  [{ rank_pattern: { q_proj: 4 } }, /field "rank_pattern" is not supported/],
  [{ alpha_pattern: { q_proj: 4 } }, /field "alpha_pattern" is not supported/],
  [{ layer_replication: [[0, 1]] }, /field "layer_replication" is not supported/],
  [{ fan_in_fan_out: true }, /field "fan_in_fan_out" is not supported/],
  [{ some_later_feature: 3 }, /field "some_later_feature" is not supported/],
  [{ init_lora_weights: 'pissa' }, /field "init_lora_weights".*changes the base weights/],
  [{ r: 0 }, /field "r" must be a whole number >= 1, got 0/],
  [{ lora_alpha: undefined }, /field "lora_alpha" must be a number > 0, got nothing/],
  [{ lora_dropout: 1 }, /field "lora_dropout" must be a number in \[0, 1\)/],
  [{ target_modules: ['q_proj', 'lm_head'] }, /"target_modules" names "lm_head"; supported are q_proj, k_proj/],
  [{ target_modules: [] }, /field "target_modules" must name the adapted modules/],
  [{ target_modules: 'nothing' }, /must match a linear layer of the model/],
  [{ target_modules: '(?P<x>q)_proj' }, /regular expression that JavaScript can read/],
  [{ target_modules: '.*[02].*q_proj|.*v_proj' }, /must be the same in every adapted layer; layer 1 has no q_proj/],
  [{ layers_to_transform: [0, 7] }, /names layer 7, the model has 3/],
  [{ r: 4 }, /tensor ".*lora_A\.weight" has shape \[8, 64\], the model needs \[4, 64\]/],
  [{ target_modules: ['q_proj'] }, /tensor "base_model.*v_proj.*" belongs to no module.*no effect/],
  [{ layers_to_transform: [0, 1] }, /tensor "base_model.model.model.layers.2.*belongs to no module/],
  [{ target_modules: ['q_proj', 'v_proj', 'k_proj'] }, /"base_model.*k_proj.lora_A.weight" is missing/],
];
for (const [change, message] of REFUSED) {
  test(`an adapter with ${JSON.stringify(change)} is refused by field or tensor`, async () => {
    await rejects(readAdapter(copyAdapter(change), await llama(), 1), 'INVALID_ADAPTER', message);
  });
}

test('an adapter of another model is refused with both shapes', async () => {
  const qwen3 = await readModelConfig(fixturePath('qwen3-tiny'));
  const folder = join(fixturePath('qwen2-tiny'), 'adapter');
  const message = /adapter of another model: .*q_proj\.lora_B\.weight" has shape \[64, 8\], the model needs \[128, 8\]/;
  await rejects(readAdapter(folder, qwen3, 1), 'INVALID_ADAPTER', message);
  const deeper = readAdapter(join(fixturePath('llama-tiny'), 'adapter'), qwen3, 1);
  await rejects(deeper, 'INVALID_ADAPTER', /adapter of another model/);
});

test('missing folders, missing files and pickles are refused by name', async () => {
  const config = await llama();
  await rejects(readAdapter('/nowhere', config, 1), 'INVALID_ADAPTER', /adapter folder \/nowhere cannot be read/);
  await rejects(readAdapter(temporaryFolder(), config, 1), 'INVALID_ADAPTER', /is empty/);
  const folder = copyAdapter();
  const weights = join(folder, 'adapter_model.safetensors');
  writeFileSync(weights, readFileSync(weights).subarray(0, 9000));
  await rejects(readAdapter(folder, config, 1), 'INVALID_ADAPTER', /adapter_model\.safetensors: is cut/);
  renameSync(weights, join(folder, 'adapter_model.bin'));
  await rejects(readAdapter(folder, config, 1), 'INVALID_ADAPTER', /pickled adapters are not supported/);
  rmSync(join(folder, 'adapter_config.json'));
  await rejects(readAdapter(folder, config, 1), 'INVALID_ADAPTER', /adapter_config\.json cannot be read/);
});

test('a saved adapter is read back with every number', async () => {
  const config = await llama();
  const folder = join(temporaryFolder(), 'deep', 'adapter');
  const adapter = numbered(config, { layers: [0, 2], rankStabilised: true });
  await writeAdapter(folder, adapter);
  const back = await readAdapter(folder, config, 0);
  assert.is(back.scaling, 3);
  assert.is(back.dropout, 0.05);
  assert.equal(back.layers, [0, 2]);
  assert.equal(back.targetModules, [...PROJECTIONS]);
  const bytes = readFileSync(back.file.path);
  for (const { name, shape, data } of adapter.tensors) {
    const { offset, byteLength, dtype, shape: found } = back.tensors[name]!;
    assert.is(dtype, 'F32');
    assert.equal(found, shape);
    assert.ok(bytes.subarray(offset, offset + byteLength).equals(Buffer.from(data.buffer)), name);
  }
  assert.equal(readdirSync(join(folder, '..')), ['adapter']);
});

test('saving replaces an older adapter, but never a folder that holds other things', async () => {
  const config = await llama();
  const folder = join(temporaryFolder(), 'adapter');
  await writeAdapter(folder, numbered(config, { targetModules: ['q_proj'] }));
  await writeAdapter(folder, numbered(config, { targetModules: ['o_proj'] }));
  assert.equal((await readAdapter(folder, config, 0)).targetModules, ['o_proj']);
  const other = temporaryFolder();
  writeFileSync(join(other, 'thesis.txt'), 'mine');
  const refused = writeAdapter(other, numbered(config));
  await rejects(refused, 'INVALID_ARGUMENT', /holds other files \(thesis\.txt\); name a new or an empty folder/);
  assert.equal(readdirSync(other), ['thesis.txt']);
  const file = join(other, 'thesis.txt');
  await rejects(writeAdapter(file, numbered(config)), 'INVALID_ARGUMENT', /is a file, not a folder/);
  await rejects(writeAdapter(join(file, 'a'), numbered(config)), 'IO_FAILED', /cannot be written/);
  assert.ok(statSync(file).isFile());
});

test('an adapter with a value that is not finite, or with a matrix missing, is not saved', async () => {
  const config = await llama();
  const folder = join(temporaryFolder(), 'adapter');
  const broken = numbered(config);
  broken.tensors[3]!.data[5] = NaN;
  await rejects(writeAdapter(folder, broken), 'INVALID_ADAPTER', /layers\.0\.k_proj\.lora_B holds a value/);
  const short = numbered(config);
  await rejects(writeAdapter(folder, { ...short, tensors: short.tensors.slice(1) }), 'INTERNAL', /has no layers\.0/);
  const long = { ...short, targetModules: short.targetModules.slice(0, 2) };
  await rejects(writeAdapter(folder, long), 'INTERNAL', /42 trained tensors, the adapter's modules have 12/);
  assert.equal(readdirSync(join(folder, '..')), []);
});

test.run();
