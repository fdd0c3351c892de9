import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomNumbers } from '../../lib/algorithms/index.js';
import { defineEnvironment, defineReward } from '../../lib/environments/index.js';
import type { Environment } from '../../lib/environments/types.js';
import { writeSafetensors } from '../../lib/model/safetensors-writer.js';

const TOKENIZER = fileURLToPath(new URL('../fixtures/tokenizer/bytes', import.meta.url));
const SIZES = { vocab: 426, hidden: 32, intermediate: 64, layers: 2, heads: 4, keyValueHeads: 2, headDim: 8 };

/** Normal numbers by Box and Muller. */
function gaussian(random: () => number, count: number, deviation: number): Float32Array {
  return Float32Array.from(
    { length: count },
    () => deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}

/** Writes a model folder with seeded random weights (float32, 60,000 parameters) and a byte-level tokenizer with a chat template. */
export async function writeTinyModel(folder: string, seed = 1): Promise<string> {
  const { vocab, hidden, intermediate, layers, heads, keyValueHeads, headDim } = SIZES;
  mkdirSync(folder, { recursive: true });
  cpSync(TOKENIZER, folder, { recursive: true });
  const random = randomNumbers(seed);
  const matrix = (name: string, ...shape: [number, number]) => ({
    name,
    dtype: 'F32',
    shape,
    data: gaussian(random, shape[0] * shape[1], 1 / Math.sqrt(shape[1])),
  });
  const ones = (name: string) => ({ name, dtype: 'F32', shape: [hidden], data: new Float32Array(hidden).fill(1) });
  const layer = (index: number) => {
    const at = `model.layers.${index}`;
    return [
      ones(`${at}.input_layernorm.weight`),
      ones(`${at}.post_attention_layernorm.weight`),
      matrix(`${at}.self_attn.q_proj.weight`, heads * headDim, hidden),
      matrix(`${at}.self_attn.k_proj.weight`, keyValueHeads * headDim, hidden),
      matrix(`${at}.self_attn.v_proj.weight`, keyValueHeads * headDim, hidden),
      matrix(`${at}.self_attn.o_proj.weight`, hidden, heads * headDim),
      matrix(`${at}.mlp.gate_proj.weight`, intermediate, hidden),
      matrix(`${at}.mlp.up_proj.weight`, intermediate, hidden),
      matrix(`${at}.mlp.down_proj.weight`, hidden, intermediate),
    ];
  };
  await writeSafetensors(join(folder, 'model.safetensors'), [
    matrix('model.embed_tokens.weight', vocab, hidden),
    matrix('lm_head.weight', vocab, hidden),
    ones('model.norm.weight'),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
  ]);
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    hidden_size: hidden,
    intermediate_size: intermediate,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: keyValueHeads,
    head_dim: headDim,
    vocab_size: vocab,
    max_position_embeddings: 512,
    rms_norm_eps: 1e-5,
    rope_theta: 10000,
    tie_word_embeddings: false,
    torch_dtype: 'float32',
    bos_token_id: 3,
    eos_token_id: 3,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return folder;
}

const PROMPTS = ['write words', 'say something', 'speak', 'go on', 'tell me more', 'any letters', 'begin', 'one line'];

/** One turn of free text, paid by its share of vowels: dense, deterministic, and learned by any model within some steps. */
export function vowelsEnvironment(): Environment {
  return defineEnvironment({
    name: 'vowels',
    tasks: PROMPTS.map((prompt, index) => ({ id: `p${index}`, prompt })),
    prompt: (task) => [{ role: 'user', content: task.prompt }],
    rewards: [
      defineReward({
        name: 'vowels',
        score: ({ turns }) => {
          const text = turns.map((turn) => turn.text).join('');
          return text.length === 0 ? 0 : (text.match(/[aeiou]/g) ?? []).length / text.length;
        },
      }),
    ],
    maxTurns: 1,
  });
}

/** LoRA on everything, so that a model without pretraining has enough to move. */
export const TINY_LORA = {
  rank: 4,
  alpha: 32,
  targetModules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as (
    'q_proj' | 'k_proj' | 'v_proj' | 'o_proj' | 'gate_proj' | 'up_proj' | 'down_proj'
  )[],
};
