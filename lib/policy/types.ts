import type { Tokenizer } from '../tokenizer/index.js';

/** Token ids, masks and per-token numbers may be given as plain or typed arrays. */
export type NumberArray = ArrayLike<number>;

/** Options of {@link Session.generate}. Sampling defaults are these, never a model folder's own. */
export interface GenerateOptions {
  /** New tokens at most, >= 1. */
  maxNewTokens: number;
  /** 0 = greedy. @default 1 */
  temperature?: number;
  /** Nucleus mass in (0, 1]. @default 1 */
  topP?: number;
  /** 0 = off. @default 0 */
  topK?: number;
  /** Share of the largest probability, [0, 1). @default 0 */
  minP?: number;
  /** Stop strings, matched on the decoded bytes across token boundaries. The completing token is kept. */
  stop?: string[];
  /** Replaces the default stop set (generation_config's list and the template's turn end); [] = none. */
  stopIds?: NumberArray;
  /** Seed of the counter-based generator: the same numbers whatever else runs. */
  seed?: number;
  signal?: AbortSignal;
}

export type FinishReason = 'stop' | 'length' | 'context' | 'aborted';

/** One generated turn. */
export interface Turn {
  /** (N) the sampled ids, the stop token included. */
  ids: Int32Array;
  /** (N) nats: log-softmax(logits / temperature) over the support; at temperature 0 those of temperature 1. */
  logprobs: Float32Array;
  finishReason: FinishReason;
  /** decode(ids), uncut; undefined where the folder has no tokenizer. */
  text: string | undefined;
  weightsVersion: number;
  /** Mean probability mass that topP/topK/minP cut away, 0 where nothing was cut. */
  truncatedMass: number;
}

/** A row of training data as a session holds it. T = its length. */
export interface SessionRow {
  /** (T) */
  ids: Int32Array;
  /** (T) 1 = sampled by the policy. */
  mask: Uint8Array;
  /** (T-1) nats, NaN where nothing was sampled. */
  samplerLogprobs: Float32Array;
}

/** A growing token sequence with its KV cache. */
export interface Session {
  /** Tokens so far. */
  readonly length: number;
  generate(options: GenerateOptions): Promise<Turn>;
  /** Adds tokens that the policy did not sample (mask 0). */
  append(ids: NumberArray): Promise<void>;
  /** A copy that shares the KV cache so far. */
  fork(): Promise<Session>;
  row(): SessionRow;
  close(): void;
}

/** Importance correction of the sampler/trainer mismatch (`samplerLogprobs` needed), w = exp(old - sampler), detached. */
export interface CorrectionOptions {
  /** truncate: min(w, high). mask: tokens (or rows) with w outside [low, high] are left out of the sum. */
  kind: 'truncate' | 'mask';
  /** token: per token. sequence: product over the row. geometric: geometric mean over the row. @default 'token' */
  level?: 'token' | 'sequence' | 'geometric';
  /** @default 0 */
  low?: number;
  /** @default 2 */
  high?: number;
}

/** The policy loss; see docs/losses.md for the formulas. */
export interface LossOptions {
  policy?: 'clip' | 'cispo' | 'sapo';
  ratio?: 'token' | 'sequence';
  aggregation?: 'token-mean' | 'sequence-mean' | 'sequence-sum-mean' | 'constant';
  clipLow?: number;
  clipHigh?: number;
  clipRatioMax?: number;
  cispoMax?: number;
  cispoRelative?: boolean;
  sapoTemperaturePositive?: number;
  sapoTemperatureNegative?: number;
  kl?: 'k2' | 'k3';
  klCoefficient?: number;
  klImportanceCorrected?: boolean;
  entropyCoefficient?: number;
  correction?: CorrectionOptions;
  horizon?: number;
}

export interface OptimizerOptions {
  learningRate?: number;
  betas?: [number, number];
  epsilon?: number;
  weightDecay?: number;
  maxGradNorm?: number;
}

/** One row of an update. T = ids.length. */
export interface UpdateRow {
  /** (T) */
  ids: NumberArray;
  /** (T) 1 = trained; entry 0 is ignored. */
  mask: NumberArray;
  /** One number, or (T) one a token. */
  advantage: number | NumberArray;
  /** Of policy, old and reference alike. @default 1 */
  temperature?: number;
  /** (T-1) nats; without it the ratio is 1, with its gradient. */
  oldLogprobs?: NumberArray;
  /** (T-1) nats, NaN where nothing was sampled. */
  samplerLogprobs?: NumberArray;
}

export interface UpdateOptions {
  rows: UpdateRow[];
  loss?: LossOptions;
  optimizer?: OptimizerOptions;
  /** Tokens of a micro-batch at most; a longer row goes alone. */
  microBatchTokens?: number;
  signal?: AbortSignal;
}

export interface UpdateStats {
  loss: number;
  /** null when no reference was needed. */
  kl: number | null;
  entropy: number;
  gradNorm: number;
  clipFraction: number;
  ratioMax: number;
  /** mask-1 tokens. */
  tokens: number;
  rows: number;
  /** null, or why the optimizer did not step. */
  skipped: string | null;
  /** Mean |sampler - trainer| log-prob over mask-1 tokens, null without samplerLogprobs. */
  samplerTrainerGap: number | null;
  seconds: number;
  peakBytes: number;
  /** Forward and backward passes that the rows were split into. */
  microBatches?: number;
  /** Whether blocks were computed again in backward, to save memory. */
  recomputed?: boolean;
  /** null, or how memory changed the micro-batches: a line to show. */
  note?: string | null;
}

export interface LoadOptions {
  device?: string;
  dtype?: 'auto' | 'float32' | 'bfloat16';
  /** 'lora': an adapter. 'full': every weight, float32, 200 million at most. 'none': sample only. @default 'lora' */
  train?: 'lora' | 'full' | 'none';
  /** rankStabilised: the scaling is alpha / sqrt(rank) instead of alpha / rank. @default false */
  lora?: { rank?: number; alpha?: number; dropout?: number; targetModules?: string[]; rankStabilised?: boolean };
  adapter?: string;
  /** Folder of `policy.saveCheckpoint` to go on from. Other options may repeat its settings, not change them. */
  resume?: string;
  /** Bytes for weights, optimizer, keys and values, and update graph together. @default what the machine has */
  memoryBytes?: number;
  reference?: 'start' | 'base';
  maxContext?: number;
  seed?: number;
  support?: 'tokenizer' | 'all';
  strict?: boolean;
  /** Hub revision. @default 'main' */
  revision?: string;
  signal?: AbortSignal;
}

/** Options of `policy.saveCheckpoint`. */
export interface SaveCheckpointOptions {
  /** Text files of the caller that are published, and checked at resume, with the checkpoint: name -> content. */
  files?: Record<string, string>;
}

/** Options of `policy.exportMerged`. */
export interface ExportOptions {
  /** 'file': each tensor as the base stores it. @default 'file'; 'float32' for train: 'full', whose steps bfloat16 would lose */
  dtype?: 'file' | 'float32' | 'bfloat16';
  /** Weights beyond this go into several files with an index. @default 5e9 */
  maxShardBytes?: number;
}

export interface LogprobsOptions {
  weights?: 'policy' | 'reference' | 'base';
  temperature?: number;
  support?: 'tokenizer' | 'all';
  signal?: AbortSignal;
}

/** What rollouts, trainers and tests need of a policy; `Policy` of lib/policy is the native one. */
export interface PolicyLike {
  readonly tokenizer: Tokenizer | undefined;
  readonly maxContext: number;
  readonly weightsVersion: number;
  /** The default stop set. */
  readonly stopIds: readonly number[];
  open(promptIds: NumberArray): Promise<Session>;
  logprobs(rows: NumberArray[], options?: LogprobsOptions): Promise<Float32Array[]>;
  update(options: UpdateOptions): Promise<UpdateStats>;
  saveAdapter(folder: string): Promise<void>;
  close(): Promise<void>;
}
