import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { publishFolder, replaceFile } from './durable-write.js';
import { DTYPE_BYTES } from './safetensors.js';
import { writeSafetensors, type TensorToWrite } from './safetensors-writer.js';

/** A whole model to save; every tensor by its Hugging Face name, in the order of a forward pass. */
export interface ModelToWrite {
  /** Folder whose tokenizer, template, generation settings and licence are copied. */
  source: string;
  /** Content of config.json. */
  config: Record<string, unknown>;
  tensors: readonly TensorToWrite[];
  /** Bytes of one weight file at most, unless one tensor is larger. */
  maxShardBytes: number;
}

/** What a model folder holds beside its weights and config.json. */
const COMPANIONS =
  /^(generation_config\.json|tokenizer(_config)?\.json|special_tokens_map\.json|added_tokens\.json|vocab\.(json|txt)|merges\.txt|(tokenizer|spiece)\.model|chat_template\.(jinja|json)|(LICEN[CS]E|NOTICE|COPYING).*)$/i;
const TEMPLATES = 'additional_chat_templates';

const bytesOf = ({ dtype, shape }: TensorToWrite): number =>
  shape.reduce((product, size) => product * size, DTYPE_BYTES[dtype]!);

async function companions(source: string): Promise<string[]> {
  const names = await readdir(source);
  const templates = names.includes(TEMPLATES) ? await readdir(join(source, TEMPLATES)) : [];
  return [...names.filter((name) => COMPANIONS.test(name)), ...templates.map((name) => join(TEMPLATES, name))];
}

/** Tensors file by file, in order, each file as full as the limit allows. */
export function planShards(tensors: readonly TensorToWrite[], maxShardBytes: number): TensorToWrite[][] {
  const shards: TensorToWrite[][] = [];
  let room = 0;
  for (const tensor of tensors) {
    const bytes = bytesOf(tensor);
    if (shards.length === 0 || bytes > room) {
      shards.push([]);
      room = maxShardBytes;
    }
    shards.at(-1)!.push(tensor);
    room -= bytes;
  }
  return shards;
}

async function writeWeights(folder: string, { tensors, maxShardBytes }: ModelToWrite): Promise<void> {
  const shards = planShards(tensors, maxShardBytes);
  if (shards.length === 1) return writeSafetensors(join(folder, 'model.safetensors'), tensors);
  const number = (value: number) => String(value).padStart(5, '0');
  const weightMap: Record<string, string> = {};
  for (const [i, shard] of shards.entries()) {
    const file = `model-${number(i + 1)}-of-${number(shards.length)}.safetensors`;
    await writeSafetensors(join(folder, file), shard);
    for (const { name } of shard) weightMap[name] = file;
  }
  const total = tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
  const index = { metadata: { total_size: total }, weight_map: weightMap };
  await writeJson(join(folder, 'model.safetensors.index.json'), index);
}

const writeJson = (path: string, value: unknown): Promise<void> =>
  replaceFile(path, (handle) => handle.writeFile(`${JSON.stringify(value, null, 2)}\n`));

/**
 * Writes a Hugging Face model folder, whole or not at all. The folder must be new or empty.
 *
 * @throws GrpoError INVALID_ARGUMENT when the folder holds files, IO_FAILED when the disk refuses
 */
export async function writeModel(folder: string, model: ModelToWrite): Promise<void> {
  if (model.tensors.length === 0) throw new GrpoError('INTERNAL', 'save', 'a model needs at least one tensor');
  await publishFolder(folder, undefined, async (temporary) => {
    for (const name of await companions(model.source)) {
      const bytes = await readFile(join(model.source, name));
      await replaceFile(join(temporary, name), (handle) => handle.writeFile(bytes), { makeFolder: true });
    }
    await writeWeights(temporary, model);
    await writeJson(join(temporary, 'config.json'), model.config);
  });
}
