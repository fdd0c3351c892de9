import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { NativeTensor } from '../addon-types.js';
import { readCheckpointFiles } from './checkpoint-files.js';
import { readEosIds, readModelConfig, type ModelConfig } from './config.js';
import { dominantDtype, mapWeights } from './weights.js';

/** A model folder, read and checked; no weight is loaded yet. */
export interface ModelFolder {
  folder: string;
  config: ModelConfig;
  files: { path: string; bytes: number }[];
  /** By canonical name. */
  tensors: Record<string, NativeTensor>;
  /** dtype that most bytes of the weights have. */
  fileDtype: 'F32' | 'BF16' | 'F16';
  /** Number of weights. */
  parameters: number;
  /** generation_config.json's end ids, else config.json's. */
  eosIds: number[];
}

/**
 * Reads `config.json`, the safetensors headers and the end ids of a local model folder, and checks them against each other.
 *
 * @throws GrpoError INVALID_MODEL or UNSUPPORTED_MODEL, naming the file and the field or tensor.
 */
export async function readModelFolder(folder: string): Promise<ModelFolder> {
  const absolute = resolve(folder);
  const config = await readModelConfig(absolute);
  const checkpoint = await readCheckpointFiles(absolute);
  const tensors = mapWeights(config, checkpoint);
  const hasGeneration = await stat(join(absolute, 'generation_config.json')).then(
    () => true,
    () => false,
  );
  const counts = Object.values(tensors).map(({ shape }) => shape.reduce((product, size) => product * size, 1));
  return {
    folder: absolute,
    config,
    files: checkpoint.files,
    tensors,
    fileDtype: dominantDtype(tensors),
    parameters: counts.reduce((sum, count) => sum + count, 0),
    eosIds: await readEosIds(absolute, config, hasGeneration),
  };
}
