import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { NativeTensor } from '../addon-types.js';
import { GrpoError } from '../errors.js';
import { JsonFields } from './json-fields.js';
import { readSafetensors } from './safetensors.js';

const SINGLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

/** The weight files of a model folder. */
export interface CheckpointFiles {
  files: { path: string; bytes: number }[];
  /** By Hugging Face name. */
  tensors: Map<string, NativeTensor>;
}

const invalid = (message: string) => new GrpoError('INVALID_MODEL', 'load', message);

async function readIndex(folder: string): Promise<Map<string, string>> {
  const index = await JsonFields.read(join(folder, INDEX), 'INVALID_MODEL');
  const weightMap = index.object('weight_map');
  if (!weightMap || weightMap.names().length === 0) throw index.fault('weight_map', 'must map tensor names to files');
  return new Map(
    weightMap.names().map((tensor) => {
      const shard = weightMap.string(tensor);
      if (!/^[^/\\]+\.safetensors$/.test(shard))
        throw weightMap.fault(tensor, 'must name a .safetensors file of the folder');
      return [tensor, shard];
    }),
  );
}

async function readShards(folder: string): Promise<CheckpointFiles> {
  const weightMap = await readIndex(folder);
  const shards = [...new Set(weightMap.values())].sort();
  const files: CheckpointFiles['files'] = [];
  const tensors: CheckpointFiles['tensors'] = new Map();
  for (const [file, shard] of shards.entries()) {
    const header = await readSafetensors(join(folder, shard), { file });
    files.push({ path: header.path, bytes: header.bytes });
    for (const [name, tensor] of header.tensors) {
      const earlier = tensors.get(name);
      if (earlier) throw invalid(`${folder}: tensor "${name}" is in both ${shards[earlier.file]} and ${shard}`);
      tensors.set(name, tensor);
    }
  }
  for (const [name, shard] of weightMap) {
    const found = tensors.get(name);
    if (!found || shards[found.file] !== shard) {
      throw invalid(`${join(folder, INDEX)} puts tensor "${name}" in ${shard}, but it is not there; fetch both again`);
    }
  }
  return { files, tensors };
}

/**
 * Reads the headers of `model.safetensors`, or of the shards that `model.safetensors.index.json` names.
 *
 * @throws GrpoError INVALID_MODEL for a missing, cut or inconsistent file, UNSUPPORTED_MODEL for a pickle-only folder.
 */
export async function readCheckpointFiles(folder: string): Promise<CheckpointFiles> {
  const names = await readdir(folder);
  if (names.includes(SINGLE)) {
    const header = await readSafetensors(join(folder, SINGLE));
    return { files: [{ path: header.path, bytes: header.bytes }], tensors: header.tensors };
  }
  if (names.includes(INDEX)) return readShards(folder);
  const pickle = names.find((name) => /^pytorch_model.*\.bin(\.index\.json)?$/.test(name));
  if (pickle) {
    const message =
      `${join(folder, pickle)}: pickled weights are not supported, only safetensors; convert them once in Python: ` +
      'AutoModelForCausalLM.from_pretrained(folder).save_pretrained(folder, safe_serialization=True)';
    throw new GrpoError('UNSUPPORTED_MODEL', 'load', message);
  }
  throw invalid(`${folder} has no weights: it needs ${SINGLE}, or ${INDEX} with its shards`);
}
