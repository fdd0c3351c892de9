/**
 * The only description of the native core: every function of `grpo-core.so` as the loader hands it to JavaScript.
 * Tensors never cross; typed arrays are copied before work is queued. Shapes: B rows, T tokens, V vocabulary, D head size.
 */

/** One tensor inside a mapped safetensors file. */
export interface NativeTensor {
  /** Index into {@link NativePolicyConfig.files}. */
  file: number;
  /** 'F32' | 'F16' | 'BF16' */
  dtype: string;
  shape: number[];
  /** Absolute byte offset in the file. */
  offset: number;
  byteLength: number;
}

export interface NativeLoraConfig {
  rank: number;
  /** alpha / rank, or alpha / sqrt(rank) for rank-stabilised LoRA. */
  scaling: number;
  dropout: number;
  /** Projection names: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj. */
  targetModules: string[];
  /** Layers that carry an adapter. */
  layers: number[];
  /** Existing adapter: tensor name 'layers.N.<module>.lora_A' | '.lora_B' -> tensor in files. Empty: A Kaiming-uniform, B zero. */
  tensors: Record<string, NativeTensor>;
}

/** What a checkpoint brings back beside the adapter itself; tensors are float32, by canonical name. */
export interface NativeResume {
  /** train 'full' only. */
  weights: Record<string, NativeTensor>;
  /** Adapter that KL pulls to; empty: the base. */
  reference: Record<string, NativeTensor>;
  /** Empty before the first step. */
  firstMoments: Record<string, NativeTensor>;
  secondMoments: Record<string, NativeTensor>;
  /** Optimizer steps taken; dropout masks follow from them. */
  steps: number;
  weightsVersion: number;
}

export interface NativePolicyConfig {
  /** Absolute paths with their expected sizes. */
  files: { path: string; bytes: number }[];
  /** Canonical name (embed_tokens, norm, lm_head, layers.N.q_proj.weight, layers.N.q_proj.bias, ...) -> tensor. */
  tensors: Record<string, NativeTensor>;
  vocabSize: number;
  hiddenSize: number;
  intermediateSize: number;
  layers: number;
  heads: number;
  keyValueHeads: number;
  headDim: number;
  rmsNormEps: number;
  tiedHead: boolean;
  qkNorm: boolean;
  /** (headDim / 2) float32 inverse frequencies, scaling applied. */
  inverseFrequencies: Float32Array;
  /** Factor on cos and sin (1 for all but some scaled rotary types). */
  rotaryScale: number;
  maxContext: number;
  device: string;
  dtype: 'float32' | 'bfloat16';
  train: 'lora' | 'full' | 'none';
  lora: NativeLoraConfig | undefined;
  referenceIsBase: boolean;
  resume: NativeResume | undefined;
  /** Budget of weights, optimizer, keys and values, and update graph together; 0: what the machine has. */
  memoryBytes: number;
  seed: number;
  strict: boolean;
  /** (V) 1 = in the support; undefined = all. */
  support: Uint8Array | undefined;
  /** Bytes of every id for stop strings; undefined without a tokenizer. */
  tokenBytes: { bytes: Uint8Array; offsets: Uint32Array } | undefined;
}

export interface NativeGenerate {
  maxNewTokens: number;
  temperature: number;
  topP: number;
  topK: number;
  minP: number;
  /** UTF-8 stop strings. */
  stop: Uint8Array[];
  stopIds: Int32Array;
  /** 53 bits. */
  seed: number;
}

export interface NativeTurn {
  ids: Int32Array;
  logprobs: Float32Array;
  finishReason: 'stop' | 'length' | 'context' | 'aborted';
  weightsVersion: number;
  truncatedMass: number;
}

/** Rows laid end to end; offsets has B + 1 entries. */
export interface NativeRows {
  ids: Int32Array;
  offsets: Uint32Array;
}

export interface NativeUpdateRows extends NativeRows {
  /** (sum T) */
  mask: Uint8Array;
  /** (sum T) one advantage a token. */
  advantages: Float64Array;
  /** (B) */
  temperatures: Float64Array;
  /** (sum T), entry t scores token t, entry 0 of a row unused; undefined rows are marked in hasOld. */
  oldLogprobs: Float64Array;
  /** (B) */
  hasOld: Uint8Array;
  samplerLogprobs: Float64Array;
  hasSampler: Uint8Array;
}

/** Every field resolved; see lib/policy/loss.ts for defaults and checks. Infinity = no bound. */
export interface NativeLoss {
  policy: 'clip' | 'cispo' | 'sapo';
  ratio: 'token' | 'sequence';
  aggregation: 'token-mean' | 'sequence-mean' | 'sequence-sum-mean' | 'constant';
  clipLow: number;
  clipHigh: number;
  clipRatioMax: number;
  cispoMax: number;
  cispoRelative: boolean;
  sapoTemperaturePositive: number;
  sapoTemperatureNegative: number;
  kl: 'k2' | 'k3';
  klCoefficient: number;
  klImportanceCorrected: boolean;
  entropyCoefficient: number;
  correction: 'none' | 'truncate' | 'mask';
  correctionLevel: 'token' | 'sequence' | 'geometric';
  correctionLow: number;
  correctionHigh: number;
  horizon: number;
}

export interface NativeOptimizer {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  maxGradNorm: number;
}

export interface NativeUpdateStats {
  loss: number;
  kl: number | null;
  entropy: number;
  gradNorm: number;
  clipFraction: number;
  ratioMax: number;
  tokens: number;
  rows: number;
  skipped: string | null;
  samplerTrainerGap: number | null;
  seconds: number;
  peakBytes: number;
  microBatches: number;
  recomputed: boolean;
  note: string | null;
}

/** (sum (T-1)) arrays, rows end to end. */
export interface NativeLossBatch {
  offsets: Uint32Array;
  logprobs: Float64Array;
  oldLogprobs: Float64Array | undefined;
  referenceLogprobs: Float64Array | undefined;
  samplerLogprobs: Float64Array | undefined;
  entropies: Float64Array | undefined;
  mask: Uint8Array;
  advantages: Float64Array;
}

export interface NativeLossResult {
  loss: number;
  kl: number | null;
  clipFraction: number;
  ratioMax: number;
  gradient: Float64Array;
}

/** Cancels the work it was passed to; safe from any thread. */
export interface NativeCancel {
  cancel(): void;
}

export interface NativeSession {
  generate(options: NativeGenerate, cancel: NativeCancel): Promise<NativeTurn>;
  append(ids: Int32Array): Promise<void>;
  fork(): Promise<NativeSession>;
  close(): void;
}

/** Optimizer state without its numbers. */
export interface NativeTrainingState {
  steps: number;
  weightsVersion: number;
  tensors: { name: string; shape: number[]; hasMoments: boolean }[];
}

export interface NativePolicy {
  readonly weightsVersion: number;
  /** Bytes of the resident weights. */
  readonly weightBytes: number;
  open(ids: Int32Array): Promise<NativeSession>;
  logprobs(
    rows: NativeRows,
    weights: 'policy' | 'reference' | 'base',
    temperature: number,
    fullSupport: boolean,
    cancel: NativeCancel,
  ): Promise<Float32Array>;
  update(
    rows: NativeUpdateRows,
    loss: NativeLoss,
    optimizer: NativeOptimizer,
    microBatchTokens: number,
    cancel: NativeCancel,
  ): Promise<NativeUpdateStats>;
  /** Trainable tensors by canonical name ('layers.0.q_proj.lora_A', float32), copied. */
  trainable(which: 'policy' | 'reference'): Promise<{ name: string; shape: number[]; data: Float32Array }[]>;
  trainingState(): Promise<NativeTrainingState>;
  /** One trained tensor or one of its moments, copied. */
  readTrained(what: 'value' | 'firstMoment' | 'secondMoment', name: string): Promise<Float32Array>;
  /** One weight by canonical name as a file of that type stores it: the trained one, or base + scaling * B A in float32. */
  merged(name: string, dtype: 'F32' | 'BF16' | 'F16'): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface NativeCore {
  createCancel(): NativeCancel;
  load(config: NativePolicyConfig, progress: (done: number, total: number) => void): Promise<NativePolicy>;
  evaluateLoss(batch: NativeLossBatch, loss: NativeLoss): NativeLossResult;
  /** Threads that at::parallel_for uses. */
  threads(): number;
  /** Threads that one parallel loop really ran on. */
  parallelThreadsSeen(): number;
  /** Ends this environment's threads; false when one is not back in time. */
  leave(): boolean;
  /** Whether this processor multiplies bfloat16 natively (AVX512-BF16 or AMX). */
  hasBfloat16(): boolean;
  /**
   * x (rows, inputs) times w (outputs, inputs) transposed, in bits of bfloat16, into y (rows, outputs): plus `bias`, or added
   * to y times `alpha`. False, with y untouched, where the processor lacks the form's instructions.
   */
  linearBfloat16(
    form: 'portable' | 'avx512bf16' | 'amx',
    product: { x: Uint16Array; w: Uint16Array; bias?: Uint16Array; y: Uint16Array; rows: number; alpha?: number },
  ): boolean;
  /** libtorch's own version string, e.g. '2.13.0'. */
  torchVersion(): string;
}
