import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { ADAPTER_CONFIG } from '../model/adapter-config.js';
import { ADAPTER_WEIGHTS } from '../model/adapter.js';
import { writeAdapter } from '../model/adapter-writer.js';
import {
  ADAPTER_FOLDER,
  CHECKPOINT_RECORD,
  OPTIMIZER_FILE,
  REFERENCE_FOLDER,
  WEIGHTS_FILE,
  writeCheckpointRecord,
  type CheckpointRecord,
} from '../model/checkpoint-record.js';
import { publishFolder, replaceFile } from '../model/durable-write.js';
import { modelFingerprint } from '../model/fingerprint.js';
import { writeSafetensors, type TensorToWrite } from '../model/safetensors-writer.js';
import { expectedWeights } from '../model/weights.js';
import { callNative } from './native-call.js';
import { OptionFields } from './option-fields.js';
import type { PolicyParts } from './policy.js';
import type { SaveCheckpointOptions } from './types.js';

const RESERVED = [CHECKPOINT_RECORD, OPTIMIZER_FILE, WEIGHTS_FILE, ADAPTER_FOLDER, REFERENCE_FOLDER];

function resolveFiles(options: SaveCheckpointOptions | undefined): [string, string][] {
  const fields = new OptionFields('saveCheckpoint', '', options, ['files']);
  const files = Object.entries(options?.files ?? {});
  for (const [name, text] of files) {
    if (!/^[\w-][\w.-]*$/.test(name) || RESERVED.includes(name)) {
      throw fields.error(`files: "${name}" must be a plain file name and none of ${RESERVED.join(', ')}`);
    }
    if (typeof text !== 'string') throw fields.error(`files: the content of "${name}" must be a string`);
  }
  return files;
}

/** A state that is not finite would poison every step after it, so it is never saved. */
function requireFinite(name: string, data: Float32Array): Float32Array {
  for (let i = 0; i < data.length; i++) {
    if (Number.isFinite(data[i])) continue;
    const message = `${name}[${i}] is ${data[i]}; a state that is not finite is never saved`;
    throw new GrpoError('INVALID_CHECKPOINT', 'saveCheckpoint', message);
  }
  return data;
}

/** Tensors that are read from the core one at a time, when their turn to be written comes. */
class TrainedTensors {
  constructor(private readonly parts: PolicyParts) {}

  async list() {
    const { native, model } = this.parts;
    const { tensors } = await native.trainingState();
    const sources = new Map(expectedWeights(model.config).map(({ canonical, source }) => [canonical, source]));
    return tensors.map((tensor) => ({ ...tensor, source: sources.get(tensor.name) }));
  }

  read(what: 'value' | 'firstMoment' | 'secondMoment', name: string) {
    const { core, native } = this.parts;
    return async () => {
      const data = await callNative(core, undefined, () => native.readTrained(what, name));
      return requireFinite(`${name} (${what})`, data);
    };
  }
}

async function writeOptimizer(path: string, trained: TrainedTensors): Promise<void> {
  const tensors: TensorToWrite[] = [];
  for (const { name, shape, hasMoments } of await trained.list()) {
    if (!hasMoments) continue;
    tensors.push({ name: `${name}.first_moment`, dtype: 'F32', shape, data: trained.read('firstMoment', name) });
    tensors.push({ name: `${name}.second_moment`, dtype: 'F32', shape, data: trained.read('secondMoment', name) });
  }
  await writeSafetensors(path, tensors);
}

async function writeFullWeights(path: string, trained: TrainedTensors): Promise<void> {
  const tensors = (await trained.list()).map(({ name, shape, source }) => {
    if (source === undefined) throw new GrpoError('INTERNAL', 'saveCheckpoint', `${name} has no name in a model file`);
    return { name: source, dtype: 'F32', shape, data: trained.read('value', name) };
  });
  await writeSafetensors(path, tensors);
}

/** Writes the adapter that is trained and, where it is one of its own, the reference; returns the files. */
async function writeAdapters(folder: string, parts: PolicyParts): Promise<{ paths: string[]; hasReference: boolean }> {
  const { adapter, model, baseModel, native, core } = parts;
  const paths: string[] = [];
  for (const [which, name] of [
    ['policy', ADAPTER_FOLDER],
    ['reference', REFERENCE_FOLDER],
  ] as const) {
    const tensors = await callNative(core, undefined, () => native.trainable(which));
    if (adapter === undefined || tensors.length === 0) continue;
    await writeAdapter(join(folder, name), { ...adapter, modelLayers: model.config.layers, baseModel, tensors });
    paths.push(join(name, ADAPTER_CONFIG), join(name, ADAPTER_WEIGHTS));
  }
  return { paths, hasReference: paths.length > 2 };
}

/**
 * Saves everything that training needs to go on, whole or not at all.
 *
 * @param requests state of the generator of seeds
 * @throws GrpoError INVALID_ARGUMENT, INVALID_CHECKPOINT or INVALID_ADAPTER for a state that is not finite, IO_FAILED
 */
export async function saveCheckpoint(
  parts: PolicyParts,
  folder: string,
  requests: number,
  options: SaveCheckpointOptions | undefined,
): Promise<void> {
  const { config, model, baseModel, adapter, native } = parts;
  const extra = resolveFiles(options);
  const { train } = config;
  if (train === 'none') {
    const message =
      "the policy is not trained (train: 'none'), so there is no state to save; load it with train: 'lora'";
    throw new GrpoError('INVALID_ARGUMENT', 'saveCheckpoint', message);
  }
  const { steps, weightsVersion } = await native.trainingState();
  const trained = new TrainedTensors(parts);
  await publishFolder(folder, CHECKPOINT_RECORD, async (temporary) => {
    const { paths, hasReference } =
      train === 'lora' ? await writeAdapters(temporary, parts) : { paths: [WEIGHTS_FILE], hasReference: false };
    if (train === 'full') await writeFullWeights(join(temporary, WEIGHTS_FILE), trained);
    await writeOptimizer(join(temporary, OPTIMIZER_FILE), trained);
    for (const [name, text] of extra) await replaceFile(join(temporary, name), (handle) => handle.writeFile(text));
    const record: CheckpointRecord = {
      model: { name: baseModel, fingerprint: await modelFingerprint(model) },
      train,
      dtype: config.dtype,
      reference: config.referenceIsBase ? 'base' : 'start',
      seed: config.seed,
      strict: config.strict,
      support: parts.support,
      maxContext: config.maxContext,
      lora: adapter === undefined ? null : loraRecord(adapter),
      hasReference,
      requests,
      optimizerSteps: steps,
      weightsVersion,
      extraFiles: extra.map(([name]) => name),
    };
    await writeCheckpointRecord(temporary, record, [...paths, OPTIMIZER_FILE, ...record.extraFiles]);
  });
}

function loraRecord(adapter: NonNullable<PolicyParts['adapter']>): CheckpointRecord['lora'] {
  const { rank, alpha, dropout, rankStabilised, targetModules } = adapter;
  return { rank, alpha, dropout, rankStabilised, targetModules: [...targetModules] };
}
