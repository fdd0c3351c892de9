import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { JsonFields } from './json-fields.js';
import { inverseFrequencies, readRotary, type RotarySettings } from './rotary.js';

/** The linear layers of a block that can carry LoRA. */
export const PROJECTIONS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;

export type Projection = (typeof PROJECTIONS)[number];

export type ModelFamily = 'llama' | 'qwen2' | 'qwen3';

/** A model's shape. L = layers, H = heads, K = key/value heads, D = head size. */
export interface ModelConfig {
  /** Path of the config.json it was read from. */
  file: string;
  family: ModelFamily;
  vocabSize: number;
  hiddenSize: number;
  intermediateSize: number;
  layers: number;
  heads: number;
  keyValueHeads: number;
  headDim: number;
  rmsNormEps: number;
  /** The output head is the embedding matrix. */
  tiedHead: boolean;
  /** RMS norm on each head's queries and keys (Qwen3). */
  qkNorm: boolean;
  /** Projections with a bias. */
  biased: readonly Projection[];
  rotary: RotarySettings;
  /** (D / 2) float32, scaling applied. */
  inverseFrequencies: Float32Array;
  /** Factor on cos and sin. */
  rotaryScale: number;
  /** Tokens of the longest context the model was made for. */
  maxContext: number;
  /** End ids that config.json names; generation_config.json may name others. */
  eosIds: number[];
}

const SUPPORTED =
  'supported are dense Llama (Llama 2, Llama 3.x, SmolLM2), Qwen2, Qwen2.5 and Qwen3 causal language models';
const ARCHITECTURES: Record<ModelFamily, string> = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
};
/** Fields of other architectures that would change the numbers; they must be absent, null, false, 0 or empty. */
const FOREIGN_FIELDS: Record<string, string> = {
  quantization_config: 'a quantised checkpoint (quantization_config)',
  num_experts: 'mixture of experts (num_experts)',
  num_local_experts: 'mixture of experts (num_local_experts)',
  n_routed_experts: 'mixture of experts (n_routed_experts)',
  attn_logit_softcapping: 'soft-capped attention (attn_logit_softcapping)',
  final_logit_softcapping: 'soft-capped logits (final_logit_softcapping)',
  no_rope_layers: 'layers without rotary embedding (no_rope_layers)',
  use_post_norm: 'norms after the sublayers (use_post_norm)',
  sandwich_norm: 'norms after the sublayers (sandwich_norm)',
};

const unsupported = (file: string, what: string): GrpoError =>
  new GrpoError('UNSUPPORTED_MODEL', 'load', `${file}: ${what} is not supported; ${SUPPORTED}`);

function readFamily(config: JsonFields): ModelFamily {
  const type = config.string('model_type');
  if (!Object.hasOwn(ARCHITECTURES, type)) throw unsupported(config.file, `model_type "${type}"`);
  const family = type as ModelFamily;
  const architectures = config.strings('architectures') ?? [];
  if (architectures.length > 0 && !architectures.includes(ARCHITECTURES[family])) {
    throw unsupported(config.file, `architecture ${architectures.join(', ')}`);
  }
  return family;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === false || value === 0 || (Array.isArray(value) && !value.length);

function refuseForeignParts(config: JsonFields, family: ModelFamily, layers: number): void {
  for (const [name, what] of Object.entries(FOREIGN_FIELDS)) {
    if (!isEmpty(config.raw(name))) throw unsupported(config.file, what);
  }
  const activation = config.string('hidden_act', 'silu');
  if (activation !== 'silu') throw unsupported(config.file, `activation "${activation}" (hidden_act)`);
  const slices = config.integer('pretraining_tp', { fallback: 1 });
  if (slices > 1) throw unsupported(config.file, `sliced matrices (pretraining_tp ${slices})`);

  const layerTypes = config.strings('layer_types');
  if (layerTypes && layerTypes.length !== layers) {
    throw config.fault('layer_types', `must have ${layers} entries, one per layer`);
  }
  const other = layerTypes?.find((type) => type !== 'full_attention');
  if (other) throw unsupported(config.file, `layer type "${other}" (layer_types)`);
  if (!layerTypes && family !== 'llama' && config.boolean('use_sliding_window', false)) {
    const window = config.integer('sliding_window', { fallback: 4096 });
    // Layers below max_window_layers attend to everything; only those from it on would slide.
    if (config.integer('max_window_layers', { fallback: 28, min: 0 }) < layers) {
      throw unsupported(config.file, `sliding-window attention (use_sliding_window, ${window} tokens)`);
    }
  }
}

function biasedProjections(config: JsonFields, family: ModelFamily): Projection[] {
  if (family === 'qwen2') return ['q_proj', 'k_proj', 'v_proj'];
  const attention = config.boolean('attention_bias', false) ? PROJECTIONS.slice(0, 4) : [];
  const mlp = family === 'llama' && config.boolean('mlp_bias', false) ? PROJECTIONS.slice(4) : [];
  return [...attention, ...mlp];
}

function readHeads(config: JsonFields, family: ModelFamily, hiddenSize: number) {
  const heads = config.integer('num_attention_heads');
  const keyValueHeads = config.integer('num_key_value_heads', { fallback: heads });
  if (heads % keyValueHeads !== 0) {
    throw config.fault('num_key_value_heads', `must divide num_attention_heads (${heads})`);
  }
  if (!config.has('head_dim') && family !== 'qwen3' && hiddenSize % heads !== 0) {
    throw config.fault('num_attention_heads', `must divide hidden_size (${hiddenSize}) when head_dim is absent`);
  }
  const headDim = config.integer('head_dim', { fallback: family === 'qwen3' ? 128 : hiddenSize / heads });
  if (headDim % 2 !== 0) throw config.fault('head_dim', `must be even for rotary embedding (it is ${headDim})`);
  return { heads, keyValueHeads, headDim };
}

/**
 * Reads `config.json` of a model folder, as transformers 4 and 5 write it.
 *
 * @throws GrpoError UNSUPPORTED_MODEL naming what is not supported, INVALID_MODEL naming the file and the field.
 */
export async function readModelConfig(folder: string): Promise<ModelConfig> {
  const config = await JsonFields.read(join(folder, 'config.json'), 'INVALID_MODEL');
  const family = readFamily(config);
  const layers = config.integer('num_hidden_layers');
  refuseForeignParts(config, family, layers);
  const hiddenSize = config.integer('hidden_size');
  const heads = readHeads(config, family, hiddenSize);
  const maxContext = config.integer('max_position_embeddings');
  const rotary = readRotary(config, maxContext);
  return {
    file: config.file,
    family,
    vocabSize: config.integer('vocab_size'),
    hiddenSize,
    intermediateSize: config.integer('intermediate_size'),
    layers,
    ...heads,
    rmsNormEps: config.number('rms_norm_eps'),
    tiedHead: config.boolean('tie_word_embeddings', false),
    qkNorm: family === 'qwen3',
    biased: biasedProjections(config, family),
    rotary,
    inverseFrequencies: inverseFrequencies(heads.headDim, rotary),
    rotaryScale: 1,
    maxContext,
    eosIds: config.ids('eos_token_id'),
  };
}

/**
 * The folder's end ids: generation_config.json's list where there is one, else config.json's.
 *
 * @throws GrpoError INVALID_MODEL when generation_config.json is malformed.
 */
export async function readEosIds(folder: string, config: ModelConfig, exists: boolean): Promise<number[]> {
  if (!exists) return config.eosIds;
  const generation = await JsonFields.read(join(folder, 'generation_config.json'), 'INVALID_MODEL');
  return generation.has('eos_token_id') ? generation.ids('eos_token_id') : config.eosIds;
}

/** (out, in) of a projection's weight. */
export function projectionShape(config: ModelConfig, projection: Projection): [number, number] {
  const { hiddenSize, intermediateSize } = config;
  const queries = config.heads * config.headDim;
  const keys = config.keyValueHeads * config.headDim;
  const shapes: Record<Projection, [number, number]> = {
    q_proj: [queries, hiddenSize],
    k_proj: [keys, hiddenSize],
    v_proj: [keys, hiddenSize],
    o_proj: [hiddenSize, queries],
    gate_proj: [intermediateSize, hiddenSize],
    up_proj: [intermediateSize, hiddenSize],
    down_proj: [hiddenSize, intermediateSize],
  };
  return shapes[projection];
}

/** `self_attn.q_proj`, `mlp.up_proj`: the projection's path inside a layer in Hugging Face names. */
export const projectionPath = (projection: Projection): string =>
  `${PROJECTIONS.indexOf(projection) < 4 ? 'self_attn' : 'mlp'}.${projection}`;
