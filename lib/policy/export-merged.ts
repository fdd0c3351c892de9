import { open, readFile, type FileHandle } from 'node:fs/promises';
import { GrpoError } from '../errors.js';
import { canonicalName } from '../model/adapter.js';
import { writeModel } from '../model/model-writer.js';
import type { TensorToWrite } from '../model/safetensors-writer.js';
import { expectedWeights } from '../model/weights.js';
import { callNative } from './native-call.js';
import { OptionFields } from './option-fields.js';
import type { PolicyParts } from './policy.js';
import type { ExportOptions } from './types.js';

type FileDtype = 'F32' | 'BF16' | 'F16';

/** Shards of this size are what other tools make and load. */
const MAX_SHARD_BYTES = 5e9;
const DTYPES: Record<'float32' | 'bfloat16', FileDtype> = { float32: 'F32', bfloat16: 'BF16' };
const CONFIG_DTYPES: Record<FileDtype, string> = { F32: 'float32', BF16: 'bfloat16', F16: 'float16' };

function resolveOptions(options: ExportOptions | undefined, train: PolicyParts['config']['train']) {
  const fields = new OptionFields('exportMerged', '', options, ['dtype', 'maxShardBytes']);
  return {
    dtype: fields.choice('dtype', ['file', 'float32', 'bfloat16'], train === 'full' ? 'float32' : 'file'),
    maxShardBytes: fields.number('maxShardBytes', MAX_SHARD_BYTES, { min: 1 }),
  };
}

/** Canonical names of the weights that the adapter stands beside. */
function adaptedWeights({ adapter }: PolicyParts): Set<string> {
  const names = new Set<string>();
  for (const layer of adapter?.layers ?? []) {
    for (const projection of adapter?.targetModules ?? []) {
      names.add(canonicalName(layer, projection, 'lora_A').replace(/lora_A$/, 'weight'));
    }
  }
  return names;
}

/** Bytes of the base model's own files, read when they are wanted. */
class BaseFiles {
  private readonly handles = new Map<string, FileHandle>();

  async read(path: string, offset: number, length: number): Promise<Uint8Array> {
    const handle = this.handles.get(path) ?? (await open(path, 'r'));
    this.handles.set(path, handle);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length;) {
      const { bytesRead } = await handle.read(bytes, done, Math.min(length - done, 1 << 30), offset + done);
      if (bytesRead === 0) throw new GrpoError('INVALID_MODEL', 'exportMerged', `${path} was cut since it was loaded`);
      done += bytesRead;
    }
    return bytes;
  }

  async close(): Promise<void> {
    for (const handle of this.handles.values()) await handle.close();
  }
}

async function exportedConfig({ model }: PolicyParts, dtype: FileDtype): Promise<Record<string, unknown>> {
  const config = JSON.parse(await readFile(model.config.file, 'utf8')) as Record<string, unknown>;
  const key = 'torch_dtype' in config ? 'torch_dtype' : 'dtype';
  return { ...config, [key]: CONFIG_DTYPES[dtype], tie_word_embeddings: model.config.tiedHead };
}

/**
 * Saves base and adapter as one Hugging Face folder, or the weights of train: 'full'; the base files are only read.
 *
 * @throws GrpoError INVALID_ARGUMENT, INVALID_MODEL when a merged value is not finite, IO_FAILED
 */
export async function exportMerged(
  parts: PolicyParts,
  folder: string,
  given: ExportOptions | undefined,
): Promise<void> {
  const { config, model, native, core } = parts;
  const options = resolveOptions(given, config.train);
  if (config.train !== 'full' && parts.adapter === undefined) {
    const message = 'the policy is the base model as it is: nothing to merge; copy the model folder instead';
    throw new GrpoError('INVALID_ARGUMENT', 'exportMerged', message);
  }
  const adapted = adaptedWeights(parts);
  const base = new BaseFiles();
  const tensors = expectedWeights(model.config).map(({ source, canonical, shape }): TensorToWrite => {
    const stored = model.tensors[canonical]!;
    const dtype = options.dtype === 'file' ? (stored.dtype as FileDtype) : DTYPES[options.dtype];
    const isOwn = config.train === 'full' || adapted.has(canonical) || dtype !== stored.dtype;
    const data = isOwn
      ? () => callNative(core, undefined, () => native.merged(canonical, dtype))
      : () => base.read(model.files[stored.file]!.path, stored.offset, stored.byteLength);
    return { name: source, dtype, shape, data };
  });
  const dtype = options.dtype === 'file' ? model.fileDtype : DTYPES[options.dtype];
  try {
    await writeModel(folder, {
      source: model.folder,
      config: await exportedConfig(parts, dtype),
      tensors,
      maxShardBytes: options.maxShardBytes,
    });
  } finally {
    await base.close();
  }
}
