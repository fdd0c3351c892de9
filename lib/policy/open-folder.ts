import { resolve } from 'node:path';
import type { NativeCore, NativeLoraConfig, NativePolicyConfig } from '../addon-types.js';
import { GrpoError } from '../errors.js';
import { readAdapter, loraScaling, type Adapter } from '../model/adapter.js';
import type { AdapterConfig } from '../model/adapter-config.js';
import { readModelFolder, type ModelFolder } from '../model/folder.js';
import { resolveModelFolder } from '../model/source.js';
import { Tokenizer } from '../tokenizer/index.js';
import type { TokenBytes } from '../tokenizer/types.js';
import { callNative } from './native-call.js';
import { resolveDtype, resolveLoadOptions, resolveMaxContext, type ResolvedLoadOptions } from './load-options.js';
import type { PolicyParts } from './policy.js';
import { applyCheckpoint, readResume } from './resume.js';
import type { LoadOptions } from './types.js';

/** The adapter that a policy will carry: the one in a folder, a fresh one, or none. */
function adapterConfig(
  options: ResolvedLoadOptions,
  model: ModelFolder,
  loaded: Adapter | undefined,
): AdapterConfig | undefined {
  if (loaded !== undefined) return loaded;
  if (options.lora === undefined) return undefined;
  const layers = Array.from({ length: model.config.layers }, (_, layer) => layer);
  return { ...options.lora, layers };
}

function nativeLora(adapter: AdapterConfig | undefined, loaded: Adapter | undefined): NativeLoraConfig | undefined {
  if (adapter === undefined) return undefined;
  return {
    rank: adapter.rank,
    scaling: loraScaling(adapter.alpha, adapter.rank, adapter.rankStabilised),
    dropout: adapter.dropout,
    targetModules: [...adapter.targetModules],
    layers: [...adapter.layers],
    tensors: loaded?.tensors ?? {},
  };
}

/** The tokenizer's support, widened or cut to the model's vocabulary; undefined = all ids. */
function supportOf(table: TokenBytes | undefined, vocabSize: number): Uint8Array | undefined {
  if (table === undefined) return undefined;
  const support = new Uint8Array(vocabSize);
  support.set(table.present.subarray(0, vocabSize));
  return support;
}

/** The default stop set: generation_config's list (else config.json's) and the template's turn end. */
function stopSet(model: ModelFolder, tokenizer: Tokenizer | undefined): number[] {
  const turnEnd = tokenizer?.turnEndId;
  return [...new Set([...model.eosIds, ...(turnEnd === undefined ? [] : [turnEnd])])];
}

/** Weights that are trained one by one cost 16 bytes each (value, gradient, two moments). */
const MAX_FULL_PARAMETERS = 200e6;

function requireTrainable({ train }: ResolvedLoadOptions, { folder, parameters }: ModelFolder): void {
  if (train !== 'full' || parameters <= MAX_FULL_PARAMETERS) return;
  const millions = (count: number) => `${Math.round(count / 1e6)} million`;
  const message =
    `train 'full' takes models of ${millions(MAX_FULL_PARAMETERS)} weights at most, but ${folder} has ` +
    `${millions(parameters)}; use train: 'lora'`;
  throw new GrpoError('INVALID_ARGUMENT', 'load', message);
}

/** Reads and checks everything that a policy needs, and loads it. */
export async function openFolder(
  folderOrHubId: string,
  loadOptions: LoadOptions | undefined,
  loadCore: () => Promise<NativeCore>,
): Promise<PolicyParts> {
  const { options, checkpoint } = await applyCheckpoint(loadOptions, resolveLoadOptions(loadOptions));
  const { signal } = options;
  const folder = await resolveModelFolder(folderOrHubId, { revision: options.revision, signal });
  const model = await readModelFolder(folder);
  const tokenizer = await Tokenizer.loadIfPresent(folder);
  requireTrainable(options, model);
  const resume = checkpoint === undefined ? undefined : await readResume(checkpoint, model);
  const loaded =
    options.adapter === undefined
      ? resume?.adapter
      : await readAdapter(options.adapter, model.config, model.files.length);
  const added = resume?.files ?? (loaded === undefined ? [] : [loaded.file]);
  const adapter = adapterConfig(options, model, loaded);
  const core = await loadCore();
  if (signal?.aborted) throw new GrpoError('ABORTED', 'load', 'loading was aborted');
  const table = tokenizer?.tokenBytes();
  const { config: sizes } = model;
  const config: NativePolicyConfig = {
    files: [...model.files, ...added],
    tensors: model.tensors,
    vocabSize: sizes.vocabSize,
    hiddenSize: sizes.hiddenSize,
    intermediateSize: sizes.intermediateSize,
    layers: sizes.layers,
    heads: sizes.heads,
    keyValueHeads: sizes.keyValueHeads,
    headDim: sizes.headDim,
    rmsNormEps: sizes.rmsNormEps,
    tiedHead: sizes.tiedHead,
    qkNorm: sizes.qkNorm,
    inverseFrequencies: sizes.inverseFrequencies,
    rotaryScale: sizes.rotaryScale,
    maxContext: resolveMaxContext(options.maxContext, sizes.maxContext),
    device: options.device,
    dtype: resolveDtype(options.dtype, model.fileDtype, core.hasBfloat16()),
    train: options.train,
    lora: nativeLora(adapter, loaded),
    referenceIsBase: options.reference === 'base',
    resume: resume?.native,
    memoryBytes: options.memoryBytes,
    seed: options.seed,
    strict: options.strict,
    support: options.support === 'all' ? undefined : supportOf(table, sizes.vocabSize),
    tokenBytes: table,
  };
  const native = await callNative(core, signal, () => core.load(config, () => {}));
  const isFolder = resolve(folderOrHubId) === folder;
  return {
    core,
    native,
    config,
    model,
    tokenizer,
    stopIds: stopSet(model, tokenizer),
    adapter,
    baseModel: isFolder ? folder : folderOrHubId,
    support: options.support,
    requests: checkpoint?.record.requests ?? 0,
  };
}
