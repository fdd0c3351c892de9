import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { NativeTensor } from '../addon-types.js';
import { GrpoError } from '../errors.js';
import { readAdapterConfig, type AdapterConfig } from './adapter-config.js';
import { projectionPath, projectionShape, type ModelConfig, type Projection } from './config.js';
import { readSafetensors, type SafetensorsFile } from './safetensors.js';

/** A LoRA adapter read from a PEFT folder. */
export interface Adapter extends AdapterConfig {
  /** alpha / rank, or alpha / sqrt(rank) when rank-stabilised. */
  scaling: number;
  /** The one weight file; tensors refer to it by the file index that was asked for. */
  file: { path: string; bytes: number };
  /** 'layers.N.<projection>.lora_A' (rank, in) and '.lora_B' (out, rank). */
  tensors: Record<string, NativeTensor>;
}

export const ADAPTER_WEIGHTS = 'adapter_model.safetensors';

const ADAPTER_DTYPES = ['F32', 'BF16', 'F16'];
const invalid = (message: string) => new GrpoError('INVALID_ADAPTER', 'load', message);

/** PEFT's name of an adapter matrix. */
export const peftName = (layer: number, projection: Projection, side: 'lora_A' | 'lora_B'): string =>
  `base_model.model.model.layers.${layer}.${projectionPath(projection)}.${side}.weight`;

/** The package's own name of the same matrix. */
export const canonicalName = (layer: number, projection: Projection, side: 'lora_A' | 'lora_B'): string =>
  `layers.${layer}.${projection}.${side}`;

/** Scale of the adapter's product: alpha / rank, or alpha / sqrt(rank) when rank-stabilised. */
export const loraScaling = (alpha: number, rank: number, rankStabilised: boolean): number =>
  alpha / (rankStabilised ? Math.sqrt(rank) : rank);

async function openWeights(folder: string, file: number): Promise<SafetensorsFile> {
  const names = await readdir(folder);
  if (!names.includes(ADAPTER_WEIGHTS) && names.includes('adapter_model.bin')) {
    const message =
      `${join(folder, 'adapter_model.bin')}: pickled adapters are not supported, only ${ADAPTER_WEIGHTS}; ` +
      'load it in PEFT and save it again with safe_serialization=True';
    throw invalid(message);
  }
  return readSafetensors(resolve(folder, ADAPTER_WEIGHTS), { file, code: 'INVALID_ADAPTER' });
}

function checkShape(path: string, name: string, tensor: NativeTensor, expected: number[], config: ModelConfig): void {
  if (!ADAPTER_DTYPES.includes(tensor.dtype)) {
    throw invalid(`${path}: tensor "${name}" has dtype ${tensor.dtype}; supported are ${ADAPTER_DTYPES.join(', ')}`);
  }
  if (tensor.shape.length === 2 && tensor.shape.every((size, i) => size === expected[i])) return;
  const shapes = `[${tensor.shape.join(', ')}], the model needs [${expected.join(', ')}]`;
  throw invalid(`${path}: adapter of another model: tensor "${name}" has shape ${shapes} (${config.file})`);
}

function mapTensors(config: ModelConfig, adapter: AdapterConfig, weights: SafetensorsFile): Adapter['tensors'] {
  const left = new Map(weights.tensors);
  const mapped: Adapter['tensors'] = {};
  for (const layer of adapter.layers) {
    for (const projection of adapter.targetModules) {
      const [out, input] = projectionShape(config, projection);
      for (const side of ['lora_A', 'lora_B'] as const) {
        const name = peftName(layer, projection, side);
        const tensor = left.get(name);
        if (!tensor) {
          const found = [...weights.tensors.keys()][0];
          const hint = found ? `; it holds names like "${found}"` : '; it holds no tensor';
          throw invalid(`${weights.path}: tensor "${name}" is missing, adapter_config.json asks for it${hint}`);
        }
        checkShape(weights.path, name, tensor, side === 'lora_A' ? [adapter.rank, input] : [out, adapter.rank], config);
        left.delete(name);
        mapped[canonicalName(layer, projection, side)] = tensor;
      }
    }
  }
  const [unexpected] = left.keys();
  if (unexpected !== undefined) {
    const message = `${weights.path}: tensor "${unexpected}" belongs to no module of adapter_config.json and this model`;
    throw invalid(`${message} (${left.size} such tensors); it would have no effect`);
  }
  return mapped;
}

/**
 * Reads a PEFT LoRA folder and checks it against the model: no tensor may be missing, left over or of another shape.
 *
 * @param file index that the adapter's weight file will have in the native file list
 * @throws GrpoError INVALID_ADAPTER naming the file and the field or tensor.
 */
export async function readAdapter(folder: string, config: ModelConfig, file: number): Promise<Adapter> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new GrpoError('INVALID_ADAPTER', 'load', `adapter folder ${folder} cannot be read`, { cause });
  });
  if (names.length === 0) throw invalid(`adapter folder ${folder} is empty`);
  const adapter = await readAdapterConfig(folder, config);
  const weights = await openWeights(folder, file);
  return {
    ...adapter,
    scaling: loraScaling(adapter.alpha, adapter.rank, adapter.rankStabilised),
    file: { path: weights.path, bytes: weights.bytes },
    tensors: mapTensors(config, adapter, weights),
  };
}
