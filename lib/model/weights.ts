import type { NativeTensor } from '../addon-types.js';
import { GrpoError } from '../errors.js';
import type { CheckpointFiles } from './checkpoint-files.js';
import { projectionPath, projectionShape, PROJECTIONS, type ModelConfig } from './config.js';

/** A weight that the model must have. */
interface ExpectedWeight {
  /** Name in the Hugging Face file. */
  source: string;
  /** Name the native core knows it by. */
  canonical: string;
  shape: readonly number[];
}

const WEIGHT_DTYPES = ['F32', 'BF16', 'F16'];
/** Buffers that old checkpoints carry and that are computed from config.json instead. */
const IGNORED = /(^|\.)rotary_emb\.inv_freq$|\.masked_bias$/;
const NAMES_SHOWN = 3;

function layerWeights(config: ModelConfig, layer: number): ExpectedWeight[] {
  const source = `model.layers.${layer}`;
  const canonical = `layers.${layer}`;
  const weights: ExpectedWeight[] = ['input_layernorm', 'post_attention_layernorm'].map((norm) => ({
    source: `${source}.${norm}.weight`,
    canonical: `${canonical}.${norm}`,
    shape: [config.hiddenSize],
  }));
  for (const norm of config.qkNorm ? ['q_norm', 'k_norm'] : []) {
    const name = `${source}.self_attn.${norm}.weight`;
    weights.push({ source: name, canonical: `${canonical}.${norm}`, shape: [config.headDim] });
  }
  for (const projection of PROJECTIONS) {
    const path = `${source}.${projectionPath(projection)}`;
    const shape = projectionShape(config, projection);
    weights.push({ source: `${path}.weight`, canonical: `${canonical}.${projection}.weight`, shape });
    if (config.biased.includes(projection)) {
      weights.push({ source: `${path}.bias`, canonical: `${canonical}.${projection}.bias`, shape: [shape[0]] });
    }
  }
  return weights;
}

/** Every weight of the model with its name in the file, its canonical name and its shape, in file order of a forward pass. */
export function expectedWeights(config: ModelConfig): ExpectedWeight[] {
  const table = [config.vocabSize, config.hiddenSize];
  const weights: ExpectedWeight[] = [{ source: 'model.embed_tokens.weight', canonical: 'embed_tokens', shape: table }];
  for (let layer = 0; layer < config.layers; layer++) weights.push(...layerWeights(config, layer));
  weights.push({ source: 'model.norm.weight', canonical: 'norm', shape: [config.hiddenSize] });
  if (!config.tiedHead) weights.push({ source: 'lm_head.weight', canonical: 'lm_head', shape: table });
  return weights;
}

const list = (names: string[]): string => {
  const rest = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
};

/**
 * Maps the tensors of a checkpoint to the canonical names of the native core, checking names, shapes and dtypes.
 *
 * A head stored beside tied embeddings is left aside: with `tie_word_embeddings` the embedding matrix is the head, as in
 * transformers.
 *
 * @throws GrpoError INVALID_MODEL for a missing, unexpected or misshapen tensor, UNSUPPORTED_MODEL for another dtype.
 */
export function mapWeights(config: ModelConfig, checkpoint: CheckpointFiles): Record<string, NativeTensor> {
  const invalid = (message: string) => new GrpoError('INVALID_MODEL', 'load', message);
  const left = new Map(checkpoint.tensors);
  const mapped: Record<string, NativeTensor> = {};
  const missing: string[] = [];
  for (const { source, canonical, shape } of expectedWeights(config)) {
    const tensor = left.get(source);
    if (!tensor) {
      missing.push(source);
      continue;
    }
    left.delete(source);
    const path = checkpoint.files[tensor.file]!.path;
    if (!WEIGHT_DTYPES.includes(tensor.dtype)) {
      const message = `${path}: tensor "${source}" has dtype ${tensor.dtype}; supported are ${WEIGHT_DTYPES.join(', ')}`;
      throw new GrpoError('UNSUPPORTED_MODEL', 'load', message);
    }
    if (tensor.shape.length !== shape.length || tensor.shape.some((size, i) => size !== shape[i])) {
      const found = tensor.shape.join(', ');
      throw invalid(
        `${path}: tensor "${source}" must have shape [${shape.join(', ')}] by ${config.file}, got [${found}]`,
      );
    }
    mapped[canonical] = tensor;
  }
  if (missing.length > 0) {
    throw invalid(`${checkpoint.files[0]!.path}: ${list(missing)} missing; the weights do not fit ${config.file}`);
  }
  if (config.tiedHead) left.delete('lm_head.weight');
  const unexpected = [...left.keys()].filter((name) => !IGNORED.test(name));
  if (unexpected.length > 0) {
    throw invalid(`${checkpoint.files[0]!.path}: unexpected ${list(unexpected)}; ${config.file} has no place for them`);
  }
  return mapped;
}

/** The dtype that most bytes of the weights have. */
export function dominantDtype(tensors: Record<string, NativeTensor>): 'F32' | 'BF16' | 'F16' {
  const bytes = new Map<string, number>();
  for (const { dtype, byteLength } of Object.values(tensors)) bytes.set(dtype, (bytes.get(dtype) ?? 0) + byteLength);
  return [...bytes].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0] as 'F32' | 'BF16' | 'F16';
}
