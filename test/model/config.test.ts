import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectionShape, readModelConfig } from '../../lib/model/config.js';
import { readModelFolder } from '../../lib/model/folder.js';
import { copyModel, fixturePath, rejects } from './fixture-folder.js';

test('a transformers 5 Llama configuration is read whole', async () => {
  const config = await readModelConfig(fixturePath('llama-tiny'));
  const { file, inverseFrequencies, ...rest } = config;
  assert.is(file, join(fixturePath('llama-tiny'), 'config.json'));
  assert.is(inverseFrequencies.length, 8);
  assert.equal(rest, {
    family: 'llama',
    vocabSize: 307,
    hiddenSize: 64,
    intermediateSize: 176,
    layers: 3,
    heads: 4,
    keyValueHeads: 2,
    headDim: 16,
    rmsNormEps: 1e-5,
    tiedHead: false,
    qkNorm: false,
    biased: [],
    rotary: {
      type: 'default',
      theta: 10000,
      factor: 1,
      lowFreqFactor: 1,
      highFreqFactor: 1,
      originalMaxPositions: 512,
    },
    rotaryScale: 1,
    maxContext: 512,
    eosIds: [2],
  });
});

test('Qwen2 has biases on q, k and v, and Qwen3 has head norms and its own head size', async () => {
  const qwen2 = await readModelConfig(fixturePath('qwen2-tiny'));
  assert.equal(qwen2.biased, ['q_proj', 'k_proj', 'v_proj']);
  assert.is(qwen2.qkNorm, false);
  assert.is(qwen2.headDim, 16);
  assert.is(qwen2.tiedHead, true);
  const qwen3 = await readModelConfig(fixturePath('qwen3-tiny'));
  assert.equal(qwen3.biased, []);
  assert.is(qwen3.qkNorm, true);
  assert.is(qwen3.headDim, 32);
  assert.equal(projectionShape(qwen3, 'q_proj'), [128, 64]);
  assert.equal(projectionShape(qwen3, 'k_proj'), [64, 64]);
  assert.equal(projectionShape(qwen3, 'o_proj'), [64, 128]);
  assert.equal(projectionShape(qwen3, 'down_proj'), [64, 160]);
});

test('transformers 4 fields are read: rope_theta, rope_scaling with type, torch_dtype', async () => {
  const old = {
    rope_parameters: undefined,
    dtype: undefined,
    torch_dtype: 'bfloat16',
    rope_theta: 500000,
    rope_scaling: { type: 'linear', factor: 2 },
    head_dim: undefined,
    num_key_value_heads: undefined,
    tie_word_embeddings: undefined,
  };
  const config = await readModelConfig(copyModel('llama-tiny', old));
  assert.is(config.rotary.theta, 500000);
  assert.is(config.rotary.type, 'linear');
  assert.is(config.rotary.factor, 2);
  assert.is(config.headDim, 16);
  assert.is(config.keyValueHeads, 4);
  assert.is(config.tiedHead, false);
});

test('Llama 3 rotary scaling takes the original length from inside, outside, or max_position_embeddings', async () => {
  const llama3 = { rope_type: 'llama3', rope_theta: 5e5, factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
  const read = async (change: object) => (await readModelConfig(copyModel('llama-tiny', { ...change }))).rotary;
  const inside = { ...llama3, original_max_position_embeddings: 64 };
  assert.is((await read({ rope_parameters: inside })).originalMaxPositions, 64);
  assert.is((await read({ rope_parameters: llama3 })).originalMaxPositions, 512);
  const outside = { rope_parameters: inside, original_max_position_embeddings: 128 };
  assert.is((await read(outside)).originalMaxPositions, 128);
  const both = await read({ rope_parameters: { rope_type: 'default', rope_theta: 7 }, rope_scaling: inside });
  assert.is(both.type, 'llama3');
  assert.is(both.theta, 5e5);
});

test('biases follow attention_bias and mlp_bias', async () => {
  const llama = await readModelConfig(copyModel('llama-tiny', { attention_bias: true, mlp_bias: true }));
  assert.is(llama.biased.length, 7);
  const qwen3 = await readModelConfig(copyModel('qwen3-tiny', { attention_bias: true }));
  assert.equal(qwen3.biased, ['q_proj', 'k_proj', 'v_proj', 'o_proj']);
});

test('end ids come from generation_config.json, else from config.json', async () => {
  assert.equal((await readModelFolder(fixturePath('llama-tiny'))).eosIds, [2]);
  const folder = copyModel('llama-tiny', { eos_token_id: [5, 6] });
  writeFileSync(join(folder, 'generation_config.json'), '{"eos_token_id": [7, 2]}');
  assert.equal((await readModelFolder(folder)).eosIds, [7, 2]);
  writeFileSync(join(folder, 'generation_config.json'), '{}');
  assert.equal((await readModelFolder(folder)).eosIds, [5, 6]);
  rmSync(join(folder, 'generation_config.json'));
  assert.equal((await readModelFolder(folder)).eosIds, [5, 6]);
  writeFileSync(join(folder, 'generation_config.json'), '{"eos_token_id": "x"}');
  await rejects(readModelFolder(folder), 'INVALID_MODEL', /generation_config\.json: field "eos_token_id"/);
});

const UNSUPPORTED: [string, Record<string, unknown>, RegExp][] = [
  ['llama-tiny', { model_type: 'mistral' }, /model_type "mistral" is not supported; supported are dense Llama/],
  ['llama-tiny', { architectures: ['LlamaForSequenceClassification'] }, /architecture LlamaForSequenceClassification/],
  ['llama-tiny', { hidden_act: 'gelu' }, /activation "gelu" \(hidden_act\)/],
  ['llama-tiny', { pretraining_tp: 2 }, /pretraining_tp 2/],
  ['llama-tiny', { quantization_config: { quant_method: 'gptq' } }, /quantised checkpoint/],
  ['llama-tiny', { num_local_experts: 8 }, /mixture of experts/],
  ['llama-tiny', { partial_rotary_factor: 0.5 }, /partial rotary embedding/],
  ['llama-tiny', { rope_scaling: { rope_type: 'yarn', factor: 4 } }, /rotary type "yarn".*default, linear and llama3/],
  ['llama-tiny', { rope_scaling: { type: 'dynamic', factor: 4 } }, /rotary type "dynamic"/],
  ['llama-tiny', { rope_scaling: { rope_type: 'longrope' } }, /rotary type "longrope"/],
  ['qwen3-tiny', { rope_parameters: { full_attention: { rope_theta: 1 } } }, /per layer type/],
  ['qwen2-tiny', { layer_types: ['full_attention', 'sliding_attention'] }, /layer type "sliding_attention"/],
  ['qwen2-tiny', { layer_types: null, use_sliding_window: true, max_window_layers: 1 }, /sliding-window attention/],
];
for (const [name, change, message] of UNSUPPORTED) {
  test(`${JSON.stringify(change)} is named as not supported`, async () => {
    await rejects(readModelConfig(copyModel(name, change)), 'UNSUPPORTED_MODEL', message);
  });
}

test('a sliding window that no layer uses is accepted', async () => {
  const idle = { layer_types: null, use_sliding_window: true, sliding_window: 128, max_window_layers: 2 };
  assert.is((await readModelConfig(copyModel('qwen2-tiny', idle))).layers, 2);
});

const INVALID: [Record<string, unknown>, RegExp][] = [
  [{ model_type: undefined }, /config\.json: field "model_type" must be a string, got nothing/],
  [{ hidden_size: undefined }, /config\.json: field "hidden_size" must be a whole number >= 1, got nothing/],
  [{ vocab_size: '307' }, /field "vocab_size" must be a whole number >= 1, got "307"/],
  [{ num_hidden_layers: 2.5 }, /field "num_hidden_layers"/],
  [{ rms_norm_eps: -1 }, /field "rms_norm_eps" must be a number > 0, got -1/],
  [{ num_key_value_heads: 3 }, /field "num_key_value_heads" must divide num_attention_heads \(4\), got 3/],
  [{ num_attention_heads: 5, num_key_value_heads: 5, head_dim: undefined }, /must divide hidden_size \(64\)/],
  [{ head_dim: 15 }, /field "head_dim" must be even/],
  [{ tie_word_embeddings: 'yes' }, /field "tie_word_embeddings" must be true or false/],
  [{ eos_token_id: [1, 'x'] }, /field "eos_token_id" must be a token id or a list/],
  [{ rope_scaling: { rope_type: 'linear' } }, /field "rope_scaling.factor"/],
  [{ rope_parameters: 5 }, /field "rope_parameters" must be an object, got 5/],
  [{ layer_types: ['full_attention'] }, /field "layer_types" must have 3 entries/],
];
for (const [change, message] of INVALID) {
  test(`a configuration with ${JSON.stringify(change)} is refused by field`, async () => {
    await rejects(readModelConfig(copyModel('llama-tiny', change)), 'INVALID_MODEL', message);
  });
}

test('a missing, cut or listed config.json is refused by file', async () => {
  const folder = copyModel('llama-tiny');
  const path = join(folder, 'config.json');
  writeFileSync(path, '{"model_type": "lla');
  await rejects(readModelConfig(folder), 'INVALID_MODEL', /config\.json is not valid JSON/);
  writeFileSync(path, '[]');
  await rejects(readModelConfig(folder), 'INVALID_MODEL', /config\.json must hold a JSON object, got \[\]/);
  rmSync(path);
  await rejects(readModelConfig(folder), 'INVALID_MODEL', /config\.json cannot be read/);
});

test.run();
