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
  return { ...options.lora, rankStabilised: false, layers };
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

/** Reads and checks everything that a policy needs, and loads it. */
export async function openFolder(
  folderOrHubId: string,
  loadOptions: LoadOptions | undefined,
  loadCore: () => Promise<NativeCore>,
): Promise<PolicyParts> {
  const options = resolveLoadOptions(loadOptions);
  const { signal } = options;
  const folder = await resolveModelFolder(folderOrHubId, { revision: options.revision, signal });
  const model = await readModelFolder(folder);
  const tokenizer = await Tokenizer.loadIfPresent(folder);
  const loaded =
    options.adapter === undefined ? undefined : await readAdapter(options.adapter, model.config, model.files.length);
  const adapter = adapterConfig(options, model, loaded);
  const core = await loadCore();
  if (signal?.aborted) throw new GrpoError('ABORTED', 'load', 'loading was aborted');
  const table = tokenizer?.tokenBytes();
  const { config: sizes } = model;
  const config: NativePolicyConfig = {
    files: loaded === undefined ? model.files : [...model.files, loaded.file],
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
    resume: undefined,
    memoryBytes: 0,
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
  };
}
