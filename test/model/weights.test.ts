import { mkdirSync, readFileSync, rmSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readModelFolder } from '../../lib/model/folder.js';
import { readSafetensors } from '../../lib/model/safetensors.js';
import { writeSafetensors, type TensorToWrite } from '../../lib/model/safetensors-writer.js';
import { copyModel, editJson, fixturePath, rejects } from './fixture-folder.js';

const SINGLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

/** The tensors of a folder's single file, ready to be written again. */
async function tensorsOf(folder: string): Promise<TensorToWrite[]> {
  const path = join(folder, SINGLE);
  const bytes = readFileSync(path);
  return [...(await readSafetensors(path)).tensors].map(([name, { dtype, shape, offset, byteLength }]) => {
    return { name, dtype, shape, data: bytes.subarray(offset, offset + byteLength) };
  });
}

async function rewrite(folder: string, edit: (tensors: TensorToWrite[]) => TensorToWrite[]): Promise<string> {
  await writeSafetensors(join(folder, SINGLE), edit(await tensorsOf(folder)));
  return folder;
}

/** Splits the folder's weights over two shards with an index. */
async function shard(folder: string): Promise<Record<string, string>> {
  const tensors = await tensorsOf(folder);
  rmSync(join(folder, SINGLE));
  const names = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  const weightMap: Record<string, string> = {};
  for (const [i, name] of names.entries()) {
    const part = tensors.filter((_, at) => at % 2 === i);
    await writeSafetensors(join(folder, name), part);
    for (const tensor of part) weightMap[tensor.name] = name;
  }
  writeFileSync(join(folder, INDEX), JSON.stringify({ metadata: { total_size: 1 }, weight_map: weightMap }));
  return weightMap;
}

test('names become canonical and keep their place', async () => {
  const model = await readModelFolder(fixturePath('qwen3-tiny'));
  const { tensors } = await readSafetensors(join(fixturePath('qwen3-tiny'), SINGLE));
  assert.equal(model.tensors.embed_tokens, tensors.get('model.embed_tokens.weight'));
  assert.equal(model.tensors.norm, tensors.get('model.norm.weight'));
  assert.equal(model.tensors['layers.1.q_norm'], tensors.get('model.layers.1.self_attn.q_norm.weight'));
  assert.equal(model.tensors['layers.0.input_layernorm'], tensors.get('model.layers.0.input_layernorm.weight'));
  assert.equal(model.tensors['layers.0.down_proj.weight'], tensors.get('model.layers.0.mlp.down_proj.weight'));
  assert.is(model.tensors.lm_head, undefined);
  assert.is(Object.keys(model.tensors).length, tensors.size);
  assert.is(model.parameters, 132224);
  assert.is(model.fileDtype, 'F32');
  assert.equal(model.files, [{ path: join(fixturePath('qwen3-tiny'), SINGLE), bytes: 531368 }]);
  const qwen2 = await readModelFolder(fixturePath('qwen2-tiny'));
  assert.equal(qwen2.tensors['layers.1.k_proj.bias']!.shape, [32]);
  assert.equal((await readModelFolder(fixturePath('llama-tiny'))).tensors.lm_head!.shape, [307, 64]);
});

test('shards give the same tensors as one file', async () => {
  const folder = copyModel('llama-tiny');
  await shard(folder);
  const model = await readModelFolder(folder);
  assert.is(model.parameters, 177984);
  assert.is(model.files.length, 2);
  const found = model.tensors['layers.2.up_proj.weight']!;
  const whole = (await readModelFolder(fixturePath('llama-tiny'))).tensors['layers.2.up_proj.weight']!;
  const bytes = readFileSync(model.files[found.file]!.path).subarray(found.offset, found.offset + found.byteLength);
  const expected = readFileSync(join(fixturePath('llama-tiny'), SINGLE));
  assert.ok(bytes.equals(expected.subarray(whole.offset, whole.offset + whole.byteLength)));
});

test('faults of an index name the shard or the tensor', async () => {
  const folder = copyModel('llama-tiny');
  const weightMap = await shard(folder);
  const [first, second] = [...new Set(Object.values(weightMap))];
  const index = join(folder, INDEX);
  editJson(index, { weight_map: { ...weightMap, 'model.extra.weight': first } });
  await rejects(readModelFolder(folder), 'INVALID_MODEL', /puts tensor "model\.extra\.weight" in model-0000/);
  editJson(index, { weight_map: { ...weightMap, 'model.norm.weight': '../../etc/passwd' } });
  await rejects(readModelFolder(folder), 'INVALID_MODEL', /weight_map\.model\.norm\.weight" must name a \.safetensors/);
  editJson(index, { weight_map: {} });
  await rejects(readModelFolder(folder), 'INVALID_MODEL', /field "weight_map" must map/);
  editJson(index, { weight_map: weightMap });
  await writeSafetensors(join(folder, second!), [
    { name: 'model.norm.weight', dtype: 'F32', shape: [64], data: new Float32Array(64) },
    { name: 'lm_head.weight', dtype: 'F32', shape: [1], data: new Float32Array(1) },
  ]);
  await rejects(readModelFolder(folder), 'INVALID_MODEL', /tensor "(lm_head|model\.norm)\.weight" is in both/);
  rmSync(join(folder, second!));
  await rejects(readModelFolder(folder), 'INVALID_MODEL', new RegExp(`${second} cannot be read`));
});

test('a folder of pickles says how to convert it, a folder without weights says what it needs', async () => {
  const folder = copyModel('llama-tiny');
  renameSync(join(folder, SINGLE), join(folder, 'pytorch_model.bin'));
  await rejects(readModelFolder(folder), 'UNSUPPORTED_MODEL', /pickled weights.*safe_serialization=True/);
  rmSync(join(folder, 'pytorch_model.bin'));
  mkdirSync(join(folder, 'sub'));
  await rejects(readModelFolder(folder), 'INVALID_MODEL', /has no weights: it needs model\.safetensors/);
});

test('missing, unexpected and misshapen tensors are named', async () => {
  const without = await rewrite(copyModel('llama-tiny'), (all) => all.filter(({ name }) => !name.includes('mlp')));
  await rejects(readModelFolder(without), 'INVALID_MODEL', /layers\.0\.mlp\.gate_proj\.weight,.* and 6 more missing/);
  const extra: TensorToWrite = { name: 'model.other', dtype: 'F32', shape: [1], data: new Float32Array(1) };
  const more = await rewrite(copyModel('llama-tiny'), (all) => [...all, extra]);
  await rejects(readModelFolder(more), 'INVALID_MODEL', /unexpected model\.other/);
  const other = copyModel('llama-tiny', { intermediate_size: 180 });
  const message = /"model\.layers\.0\.mlp\.gate_proj\.weight" must have shape \[180, 64\] by .*, got \[176, 64\]/;
  await rejects(readModelFolder(other), 'INVALID_MODEL', message);
});

test('rotary buffers of old checkpoints are ignored', async () => {
  const buffer: TensorToWrite = {
    name: 'model.layers.0.self_attn.rotary_emb.inv_freq',
    dtype: 'F32',
    shape: [8],
    data: new Float32Array(8),
  };
  const folder = await rewrite(copyModel('llama-tiny'), (all) => [...all, buffer]);
  assert.is((await readModelFolder(folder)).parameters, 177984);
});

test('tied embeddings win over a stored head, and an untied model needs one', async () => {
  const tied = await readModelFolder(copyModel('llama-tiny', { tie_word_embeddings: true }));
  assert.is(tied.tensors.lm_head, undefined);
  const untied = copyModel('qwen3-tiny', { tie_word_embeddings: false });
  await rejects(readModelFolder(untied), 'INVALID_MODEL', /lm_head\.weight missing/);
});

test("weights of another dtype are not supported, and the dtype of most bytes is the file's", async () => {
  const asBytes = (dtype: string, scale: number) => (all: TensorToWrite[]) =>
    all.map((tensor): TensorToWrite => {
      const elements = tensor.shape.reduce((product, size) => product * size, 1);
      return tensor.shape.length === 2 ? { ...tensor, dtype, data: new Uint8Array(elements * scale) } : tensor;
    });
  const eight = await rewrite(copyModel('llama-tiny'), asBytes('I8', 1));
  await rejects(readModelFolder(eight), 'UNSUPPORTED_MODEL', /has dtype I8; supported are F32, BF16, F16/);
  const half = await rewrite(copyModel('llama-tiny'), asBytes('F16', 2));
  assert.is((await readModelFolder(half)).fileDtype, 'F16');
});

test.run();
