import { join } from 'node:path';
import type { NativeResume, NativeTensor } from '../addon-types.js';
import { GrpoError } from '../errors.js';
import { readAdapter, type Adapter } from '../model/adapter.js';
import {
  ADAPTER_FOLDER,
  OPTIMIZER_FILE,
  readCheckpoint,
  REFERENCE_FOLDER,
  WEIGHTS_FILE,
  type Checkpoint,
} from '../model/checkpoint-record.js';
import { modelFingerprint } from '../model/fingerprint.js';
import type { ModelFolder } from '../model/folder.js';
import { readSafetensors } from '../model/safetensors.js';
import { expectedWeights } from '../model/weights.js';
import type { ResolvedLoadOptions } from './load-options.js';
import type { LoadOptions } from './types.js';

/** What a checkpoint adds to loading a model. */
export interface Resume {
  checkpoint: Checkpoint;
  /** Files after the model's own, in the order that tensors refer to them. */
  files: { path: string; bytes: number }[];
  adapter: Adapter | undefined;
  native: NativeResume;
}

const MOMENTS = { firstMoments: '.first_moment', secondMoments: '.second_moment' } as const;

const show = (value: unknown): string => JSON.stringify(value);
const sameSet = (a: readonly string[], b: readonly string[]): boolean => show([...a].sort()) === show([...b].sort());

/** Options that a checkpoint decides: those given may repeat it, not contradict it. */
function refuseContradictions(given: LoadOptions, { folder, record }: Checkpoint): void {
  const refuse = (option: string, wanted: unknown, made: unknown) => {
    const message =
      `${option} is ${show(wanted)}, but the checkpoint ${folder} was made with ${show(made)}; ` +
      `leave ${option} out, or start anew without resume`;
    throw new GrpoError('INVALID_ARGUMENT', 'load', message);
  };
  const compare = (option: string, wanted: unknown, made: unknown) => {
    if (wanted !== undefined && wanted !== null && wanted !== made) refuse(option, wanted, made);
  };
  compare('train', given.train, record.train);
  compare('dtype', given.dtype === 'auto' ? undefined : given.dtype, record.dtype);
  compare('reference', given.reference, record.reference);
  compare('seed', given.seed, record.seed);
  compare('strict', given.strict, record.strict);
  compare('support', given.support, record.support);
  if (given.lora === undefined || given.lora === null) return;
  if (record.lora === null) return refuse('lora', given.lora, null);
  const { rank, alpha, dropout, rankStabilised, targetModules } = given.lora;
  compare('lora.rank', rank, record.lora.rank);
  compare('lora.alpha', alpha, record.lora.alpha);
  compare('lora.dropout', dropout, record.lora.dropout);
  compare('lora.rankStabilised', rankStabilised, record.lora.rankStabilised);
  if (targetModules && !sameSet(targetModules, record.lora.targetModules)) {
    refuse('lora.targetModules', targetModules, record.lora.targetModules);
  }
}

/**
 * Reads the checkpoint that the options name and lets it decide what it must; undefined without `resume`.
 *
 * @throws GrpoError INVALID_CHECKPOINT, or INVALID_ARGUMENT naming the option that contradicts it
 */
export async function applyCheckpoint(
  given: LoadOptions | undefined,
  options: ResolvedLoadOptions,
): Promise<{ options: ResolvedLoadOptions; checkpoint: Checkpoint | undefined }> {
  if (options.resume === undefined) return { options, checkpoint: undefined };
  const checkpoint = await readCheckpoint(options.resume);
  refuseContradictions(given ?? {}, checkpoint);
  const { train, dtype, reference, seed, strict, support, maxContext } = checkpoint.record;
  const decided = { train, dtype, reference, seed, strict, support, maxContext: options.maxContext ?? maxContext };
  return { options: { ...options, ...decided, lora: undefined }, checkpoint };
}

async function readMoments(
  path: string,
  file: number,
): Promise<Pick<NativeResume, keyof typeof MOMENTS> & { bytes: number }> {
  const { bytes, tensors } = await readSafetensors(path, { file, code: 'INVALID_CHECKPOINT' });
  const ending = (end: string): Record<string, NativeTensor> =>
    Object.fromEntries(
      [...tensors].filter(([name]) => name.endsWith(end)).map(([name, tensor]) => [name.slice(0, -end.length), tensor]),
    );
  return { bytes, firstMoments: ending(MOMENTS.firstMoments), secondMoments: ending(MOMENTS.secondMoments) };
}

async function readFullWeights(path: string, model: ModelFolder, file: number) {
  const { bytes, tensors } = await readSafetensors(path, { file, code: 'INVALID_CHECKPOINT' });
  const weights: Record<string, NativeTensor> = {};
  for (const { source, canonical, shape } of expectedWeights(model.config)) {
    const tensor = tensors.get(source);
    if (tensor === undefined || tensor.dtype !== 'F32' || show(tensor.shape) !== show(shape)) {
      const message = `${path}: tensor "${source}" must be F32 of shape [${shape.join(', ')}]; the checkpoint is of another model`;
      throw new GrpoError('INVALID_CHECKPOINT', 'load', message);
    }
    weights[canonical] = tensor;
  }
  return { bytes, weights };
}

/**
 * Finds the tensors of a checkpoint and checks that it belongs to the model.
 *
 * @throws GrpoError INVALID_CHECKPOINT, INVALID_ADAPTER naming the file
 */
export async function readResume(checkpoint: Checkpoint, model: ModelFolder): Promise<Resume> {
  const { folder, record } = checkpoint;
  if ((await modelFingerprint(model)) !== record.model.fingerprint) {
    const message =
      `${join(folder, 'checkpoint.json')} was made with other weights (${record.model.name}) than those in ${model.folder}; ` +
      'load the model it was made with';
    throw new GrpoError('INVALID_CHECKPOINT', 'load', message);
  }
  const files: Resume['files'] = [];
  const next = () => model.files.length + files.length;
  let adapter: Adapter | undefined;
  let reference: Adapter | undefined;
  let weights: Record<string, NativeTensor> = {};
  if (record.train === 'lora') {
    adapter = await readAdapter(join(folder, ADAPTER_FOLDER), model.config, next());
    files.push(adapter.file);
    if (record.hasReference) {
      reference = await readAdapter(join(folder, REFERENCE_FOLDER), model.config, next());
      files.push(reference.file);
    }
  } else {
    const path = join(folder, WEIGHTS_FILE);
    const full = await readFullWeights(path, model, next());
    weights = full.weights;
    files.push({ path, bytes: full.bytes });
  }
  const optimizer = join(folder, OPTIMIZER_FILE);
  const { bytes, ...moments } = await readMoments(optimizer, next());
  files.push({ path: optimizer, bytes });
  const { optimizerSteps: steps, weightsVersion } = record;
  const native = { weights, reference: reference?.tensors ?? {}, ...moments, steps, weightsVersion };
  return { checkpoint, files, adapter, native };
}
