import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomNumbers } from '../../lib/algorithms/index.js';
import { writeSafetensors } from '../../lib/model/safetensors-writer.js';

/** Shape of the model. C = hiddenSize, D = C / heads. */
export interface Shape {
  hiddenSize: number;
  layers: number;
  heads: number;
  intermediateSize: number;
  maxContext: number;
}

/** Deviation of the first weights; those that write to the residual stream are smaller (Radford et al. 2019, GPT-2). */
const DEVIATION = 0.05;

/** Normally distributed numbers (Box and Muller 1958). */
function normal(random: () => number, size: number, deviation: number): Float32Array {
  return Float32Array.from(
    { length: size },
    () => deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}

/** Writes config.json, generation_config.json and weights drawn at random, for a tokenizer that is there already. */
export async function writeFreshModel(folder: string, vocabSize: number, shape: Shape, seed: number): Promise<number> {
  const { hiddenSize: C, layers, heads, intermediateSize: F } = shape;
  const random = randomNumbers(seed);
  const tensors: { name: string; dtype: string; shape: number[]; data: Float32Array }[] = [];
  const matrix = (name: string, rows: number, columns: number, deviation = DEVIATION) =>
    tensors.push({ name, dtype: 'F32', shape: [rows, columns], data: normal(random, rows * columns, deviation) });
  const norm = (name: string) => tensors.push({ name, dtype: 'F32', shape: [C], data: new Float32Array(C).fill(1) });
  const out = DEVIATION / Math.sqrt(2 * layers);
  matrix('model.embed_tokens.weight', vocabSize, C);
  for (let layer = 0; layer < layers; layer++) {
    const block = `model.layers.${layer}`;
    norm(`${block}.input_layernorm.weight`);
    for (const name of ['q_proj', 'k_proj', 'v_proj']) matrix(`${block}.self_attn.${name}.weight`, C, C);
    matrix(`${block}.self_attn.o_proj.weight`, C, C, out);
    norm(`${block}.post_attention_layernorm.weight`);
    for (const name of ['gate_proj', 'up_proj']) matrix(`${block}.mlp.${name}.weight`, F, C);
    matrix(`${block}.mlp.down_proj.weight`, C, F, out);
  }
  norm('model.norm.weight');
  await writeSafetensors(join(folder, 'model.safetensors'), tensors);
  const endOfTurn = vocabSize - 2;
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    hidden_size: C,
    intermediate_size: F,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    max_position_embeddings: shape.maxContext,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    attention_bias: false,
    mlp_bias: false,
    tie_word_embeddings: true,
    vocab_size: vocabSize,
    bos_token_id: null,
    eos_token_id: endOfTurn,
    dtype: 'float32',
  };
  await writeFile(join(folder, 'config.json'), `${JSON.stringify(config, undefined, 2)}\n`);
  const generation = { eos_token_id: endOfTurn, do_sample: true };
  await writeFile(join(folder, 'generation_config.json'), `${JSON.stringify(generation, undefined, 2)}\n`);
  return tensors.reduce((sum, { data }) => sum + data.length, 0);
}
