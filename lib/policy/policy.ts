import type { NativeCore, NativePolicy, NativePolicyConfig } from '../addon-types.js';
import { loadCore } from '../binding.js';
import { GrpoError } from '../errors.js';
import type { AdapterConfig } from '../model/adapter-config.js';
import { writeAdapter } from '../model/adapter-writer.js';
import type { ModelFolder } from '../model/folder.js';
import type { Tokenizer } from '../tokenizer/index.js';
import { requireArray, toIds } from './arrays.js';
import { exportMerged } from './export-merged.js';
import { openFolder } from './open-folder.js';
import { saveCheckpoint } from './save-checkpoint.js';
import { resolveLoss } from './loss.js';
import { callNative } from './native-call.js';
import { OptionFields } from './option-fields.js';
import { resolveOptimizer } from './optimizer.js';
import { PolicySession, type SessionOwner } from './session.js';
import { packUpdateRows } from './update-rows.js';
import type {
  ExportOptions,
  LoadOptions,
  LogprobsOptions,
  NumberArray,
  PolicyLike,
  SaveCheckpointOptions,
  Session,
  UpdateOptions,
  UpdateStats,
} from './types.js';

/** Tokens of a micro-batch unless the caller says otherwise. */
const MICRO_BATCH_TOKENS = 4096;

/** An empty name would mean the working folder. */
function requireFolder(folder: unknown, operation: string): void {
  if (typeof folder === 'string' && folder.length > 0) return;
  throw new GrpoError('INVALID_ARGUMENT', operation, `folder must be a path, got ${JSON.stringify(folder)}`);
}

/** What a loaded policy is made of. */
export interface PolicyParts {
  core: NativeCore;
  native: NativePolicy;
  config: NativePolicyConfig;
  model: ModelFolder;
  tokenizer: Tokenizer | undefined;
  stopIds: readonly number[];
  adapter: AdapterConfig | undefined;
  /** What adapters saved here name as their base. */
  baseModel: string;
  support: 'tokenizer' | 'all';
  /** generate calls without a seed before this policy was loaded. */
  requests: number;
}

/** A model that samples and is trained: one copy of the base weights, an adapter beside it. */
export class Policy implements PolicyLike, SessionOwner {
  readonly tokenizer: Tokenizer | undefined;
  readonly stopIds: readonly number[];
  readonly core: NativeCore;
  private readonly native: NativePolicy;
  private requests: number;
  private isClosed = false;
  /** Ends with the last update or save that was begun. */
  private settled: Promise<unknown> = Promise.resolve();

  private constructor(private readonly parts: PolicyParts) {
    this.tokenizer = parts.tokenizer;
    this.stopIds = parts.stopIds;
    this.core = parts.core;
    this.native = parts.native;
    this.requests = parts.requests;
  }

  /**
   * Loads a Hugging Face model folder, or a model of the hub.
   *
   * @throws GrpoError INVALID_MODEL, UNSUPPORTED_MODEL, INVALID_ADAPTER, INVALID_TOKENIZER, INVALID_ARGUMENT, OUT_OF_MEMORY
   * @example
   * const policy = await Policy.load('models/SmolLM2-135M-Instruct', { lora: { rank: 16 } });
   */
  static async load(folderOrHubId: string, options?: LoadOptions): Promise<Policy> {
    const parts = await openFolder(folderOrHubId, options, loadCore);
    return new Policy(parts);
  }

  /** Tokens of a session at most. */
  get maxContext(): number {
    return this.parts.config.maxContext;
  }

  /** Grows by one with each update that changed the weights. */
  get weightsVersion(): number {
    return this.native.weightsVersion;
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** The compute type, device and sizes that were chosen. */
  get description() {
    const { dtype, device, train, layers, hiddenSize, vocabSize } = this.parts.config;
    const { family } = this.parts.model.config;
    const { parameters } = this.parts.model;
    return {
      dtype,
      device,
      train,
      family,
      parameters,
      layers,
      hiddenSize,
      vocabSize,
      weightBytes: this.native.weightBytes,
    };
  }

  /** A seed for a request that gives none: the policy's own, mixed with the number of such requests. */
  nextSeed(): number {
    // Whole numbers: the product of a large seed leaves the doubles' 53 bits, and the count would be lost in it.
    const mixed = BigInt(this.parts.config.seed) * 0x9e3779b1n + BigInt(this.requests++);
    return Number(mixed % BigInt(Number.MAX_SAFE_INTEGER));
  }

  /**
   * Begins a session with a prompt of at least one token.
   *
   * @throws GrpoError CONTEXT_EXCEEDED when the prompt leaves no room, INVALID_ARGUMENT for ids outside the vocabulary
   */
  async open(promptIds: NumberArray): Promise<Session> {
    this.requireOpen('open');
    const ids = toIds(promptIds, 'open', 'promptIds');
    const native = await callNative(this.core, undefined, () => this.native.open(ids));
    return PolicySession.opened(this, native, ids);
  }

  /**
   * log p(ids[t] | ids[<t]) of ragged rows, (T - 1) entries each, nats; -Infinity for an id outside the support.
   *
   * @throws GrpoError INVALID_ARGUMENT, ABORTED, OUT_OF_MEMORY
   */
  async logprobs(rows: NumberArray[], options?: LogprobsOptions): Promise<Float32Array[]> {
    this.requireOpen('logprobs');
    const fields = new OptionFields('logprobs', '', options, ['weights', 'temperature', 'support', 'signal']);
    if (!Array.isArray(rows)) throw fields.error('rows must be a list of token id arrays');
    const copies = rows.map((row, b) => toIds(row, 'logprobs', `rows[${b}]`));
    copies.forEach((row, b) => this.checkRow(row, 'logprobs', `rows[${b}]`));
    const offsets = new Uint32Array(rows.length + 1);
    copies.forEach((row, b) => (offsets[b + 1] = (offsets[b] as number) + row.length));
    const ids = new Int32Array(offsets[rows.length] as number);
    copies.forEach((row, b) => ids.set(row, offsets[b]));
    const weights = fields.choice('weights', ['policy', 'reference', 'base'], 'policy');
    const temperature = fields.number('temperature', 1, { above: 0, max: 1000 });
    const all = fields.choice('support', ['all', 'tokenizer'], 'tokenizer') === 'all';
    const joined = await callNative(this.core, options?.signal, (cancel) =>
      this.native.logprobs({ ids, offsets }, weights, temperature, all, cancel),
    );
    let at = 0;
    return copies.map((row) => joined.slice(at, (at += Math.max(0, row.length - 1))));
  }

  /**
   * One optimizer step over all rows. A step that cannot be taken (no trained token, numbers that are not finite) is
   * `skipped` and changes nothing; so does an aborted one.
   *
   * @throws GrpoError INVALID_ARGUMENT, ABORTED, OUT_OF_MEMORY
   */
  async update(options: UpdateOptions): Promise<UpdateStats> {
    this.requireOpen('update');
    const fields = new OptionFields('update', '', options, ['rows', 'loss', 'optimizer', 'microBatchTokens', 'signal']);
    if (!fields.has('rows')) throw fields.error('rows are needed: update({ rows, loss, optimizer })');
    const loss = resolveLoss(options.loss, 'update');
    const optimizer = resolveOptimizer(options.optimizer, 'update');
    const microBatchTokens = fields.number('microBatchTokens', MICRO_BATCH_TOKENS, { min: 1, integer: true });
    const rows = packUpdateRows(options.rows, loss.correction !== 'none');
    for (let b = 0; b + 1 < rows.offsets.length; b++) {
      this.checkRow(rows.ids.subarray(rows.offsets[b], rows.offsets[b + 1]), 'update', `rows[${b}].ids`);
    }
    return this.alone(() =>
      callNative(this.core, options.signal, (cancel) =>
        this.native.update(rows, loss, optimizer, microBatchTokens, cancel),
      ),
    );
  }

  /**
   * Saves everything that training needs to go on: `Policy.load(model, { resume: folder })` continues bit for bit. An older
   * checkpoint of that name is replaced; a crash at any moment leaves a whole one or none.
   *
   * @throws GrpoError INVALID_ARGUMENT, INVALID_CHECKPOINT or INVALID_ADAPTER for a state that is not finite, IO_FAILED
   * @example
   * await policy.saveCheckpoint('run/step-20', { files: { 'trainer.json': JSON.stringify({ step: 20 }) } });
   */
  async saveCheckpoint(folder: string, options?: SaveCheckpointOptions): Promise<void> {
    this.requireOpen('saveCheckpoint');
    requireFolder(folder, 'saveCheckpoint');
    await this.alone(() =>
      callNative(this.core, undefined, () => saveCheckpoint(this.parts, folder, this.requests, options)),
    );
  }

  /**
   * Saves a Hugging Face folder that holds base and adapter as one model (or the weights of train: 'full') with tokenizer,
   * template and generation settings. The folder must be new or empty; the base model is only read.
   *
   * @throws GrpoError INVALID_ARGUMENT, INVALID_MODEL for a merged value that is not finite, IO_FAILED
   */
  async exportMerged(folder: string, options?: ExportOptions): Promise<void> {
    this.requireOpen('exportMerged');
    requireFolder(folder, 'exportMerged');
    await this.alone(() => callNative(this.core, undefined, () => exportMerged(this.parts, folder, options)));
  }

  /**
   * Saves the adapter as a PEFT folder.
   *
   * @throws GrpoError INVALID_ARGUMENT when there is no adapter or the folder holds other files, IO_FAILED
   */
  async saveAdapter(folder: string): Promise<void> {
    this.requireOpen('saveAdapter');
    requireFolder(folder, 'saveAdapter');
    const { adapter, model, baseModel } = this.parts;
    if (adapter === undefined) {
      const instead =
        this.parts.config.train === 'full' ? 'save its weights with exportMerged' : "load it with train: 'lora'";
      throw new GrpoError('INVALID_ARGUMENT', 'saveAdapter', `the policy has no adapter; ${instead}`);
    }
    const tensors = await callNative(this.core, undefined, () => this.native.trainable('policy'));
    await writeAdapter(folder, { ...adapter, modelLayers: model.config.layers, baseModel, tensors });
  }

  /** Ends all sessions and frees the memory. A second call does nothing. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await callNative(this.core, undefined, () => this.native.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Updates and saves one after the other, so that a save never mixes the weights of two versions. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.settled.then(work);
    this.settled = result.catch(() => undefined);
    return result;
  }

  private requireOpen(operation: string): void {
    if (this.isClosed) throw new GrpoError('CLOSED', operation, 'the policy has been closed; load it again');
  }

  private checkRow(ids: Int32Array, operation: string, name: string): void {
    const { vocabSize, maxContext } = this.parts.config;
    requireArray(ids, operation, name);
    if (ids.length > maxContext) {
      const message = `${name} has ${ids.length} tokens, more than the context of ${maxContext}; shorten it or raise maxContext`;
      throw new GrpoError('CONTEXT_EXCEEDED', operation, message);
    }
    const outside = ids.findIndex((id) => id >= vocabSize);
    if (outside >= 0) {
      const message = `${name}[${outside}] is ${ids[outside]}, outside the vocabulary of ${vocabSize}`;
      throw new GrpoError('INVALID_ARGUMENT', operation, message);
    }
  }
}
