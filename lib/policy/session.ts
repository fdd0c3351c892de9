import type { NativeCore, NativeGenerate, NativeSession } from '../addon-types.js';
import { GrpoError } from '../errors.js';
import type { Tokenizer } from '../tokenizer/index.js';
import { toIds } from './arrays.js';
import { callNative } from './native-call.js';
import { OptionFields } from './option-fields.js';
import type { GenerateOptions, NumberArray, Session, SessionRow, Turn } from './types.js';

const GENERATE_KEYS: readonly (keyof GenerateOptions)[] = [
  'maxNewTokens',
  'temperature',
  'topP',
  'topK',
  'minP',
  'stop',
  'stopIds',
  'seed',
  'signal',
];

/** What the sessions of one policy share. */
export interface SessionOwner {
  readonly core: NativeCore;
  readonly tokenizer: Tokenizer | undefined;
  readonly stopIds: readonly number[];
  /** A new seed for a request that gives none. */
  nextSeed(): number;
  readonly closed: boolean;
}

function resolveStop(fields: OptionFields, owner: SessionOwner): Uint8Array[] {
  if (!fields.has('stop')) return [];
  const stop = fields.raw('stop');
  if (!Array.isArray(stop) || !stop.every((entry) => typeof entry === 'string' && entry.length > 0)) {
    throw fields.error('stop must be a list of strings that are not empty');
  }
  if (stop.length > 0 && owner.tokenizer === undefined) {
    throw fields.error('stop strings need a tokenizer, but the model folder has none; use stopIds');
  }
  const encoder = new TextEncoder();
  return (stop as string[]).map((entry) => encoder.encode(entry));
}

/** Checks the options of a generate call and fills in their defaults. */
export function resolveGenerate(options: GenerateOptions, owner: SessionOwner): NativeGenerate {
  const fields = new OptionFields('generate', '', options, GENERATE_KEYS);
  if (!fields.has('maxNewTokens')) throw fields.error('maxNewTokens is needed: the number of new tokens at most');
  const stopIds = fields.has('stopIds')
    ? toIds(options.stopIds, 'generate', 'stopIds')
    : Int32Array.from(owner.stopIds);
  const signal = fields.raw('signal') ?? undefined;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw fields.error('signal must be an AbortSignal');
  return {
    maxNewTokens: fields.number('maxNewTokens', 0, { min: 1, integer: true }),
    temperature: fields.number('temperature', 1, { min: 0, max: 1000 }),
    topP: fields.number('topP', 1, { above: 0, max: 1 }),
    topK: fields.number('topK', 0, { min: 0, integer: true }),
    minP: fields.number('minP', 0, { min: 0, below: 1 }),
    stop: resolveStop(fields, owner),
    stopIds,
    seed: fields.has('seed')
      ? fields.number('seed', 0, { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true })
      : owner.nextSeed(),
  };
}

/** A growing copy of what the native side holds: ids, mask and sampler log-probs always have one length. */
class Row {
  private ids = new Int32Array(256);
  private mask = new Uint8Array(256);
  private logprobs = new Float32Array(256);
  length = 0;

  add(ids: Int32Array, logprobs: Float32Array | undefined): void {
    if (logprobs !== undefined && logprobs.length !== ids.length) {
      throw new GrpoError('INTERNAL', 'generate', `${ids.length} ids came with ${logprobs.length} log-probs`);
    }
    const end = this.length + ids.length;
    if (end > this.ids.length) this.grow(end);
    this.ids.set(ids, this.length);
    this.mask.fill(logprobs === undefined ? 0 : 1, this.length, end);
    if (logprobs === undefined) this.logprobs.fill(NaN, this.length, end);
    else this.logprobs.set(logprobs, this.length);
    this.length = end;
  }

  copy(): Row {
    const twin = new Row();
    twin.ids = this.ids.slice();
    twin.mask = this.mask.slice();
    twin.logprobs = this.logprobs.slice();
    twin.length = this.length;
    return twin;
  }

  snapshot(): SessionRow {
    return {
      ids: this.ids.slice(0, this.length),
      mask: this.mask.slice(0, this.length),
      // A prompt has at least one token, so entry 0 was never sampled.
      samplerLogprobs: this.logprobs.slice(1, this.length),
    };
  }

  private grow(needed: number): void {
    const size = Math.max(needed, 2 * this.ids.length);
    const ids = new Int32Array(size);
    const mask = new Uint8Array(size);
    const logprobs = new Float32Array(size);
    ids.set(this.ids);
    mask.set(this.mask);
    logprobs.set(this.logprobs);
    Object.assign(this, { ids, mask, logprobs });
  }
}

/** A token sequence of a native policy. One operation at a time. */
export class PolicySession implements Session {
  private busy: string | undefined;
  private closed = false;

  private constructor(
    private readonly owner: SessionOwner,
    private readonly native: NativeSession,
    private readonly tokens: Row,
  ) {}

  static opened(owner: SessionOwner, native: NativeSession, ids: Int32Array): PolicySession {
    const row = new Row();
    row.add(ids, undefined);
    return new PolicySession(owner, native, row);
  }

  get length(): number {
    return this.tokens.length;
  }

  async generate(options: GenerateOptions): Promise<Turn> {
    return this.alone('generate', async () => {
      const native = resolveGenerate(options, this.owner);
      const turn = await callNative(this.owner.core, options.signal, (cancel) => this.native.generate(native, cancel));
      this.tokens.add(turn.ids, turn.logprobs);
      return { ...turn, text: this.owner.tokenizer?.decode(turn.ids) };
    });
  }

  async append(ids: NumberArray): Promise<void> {
    return this.alone('append', async () => {
      const copy = toIds(ids, 'append', 'ids');
      await callNative(this.owner.core, undefined, () => this.native.append(copy));
      this.tokens.add(copy, undefined);
    });
  }

  async fork(): Promise<Session> {
    return this.alone('fork', async () => {
      const native = await callNative(this.owner.core, undefined, () => this.native.fork());
      return new PolicySession(this.owner, native, this.tokens.copy());
    });
  }

  row(): SessionRow {
    return this.tokens.snapshot();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.native.close();
  }

  private async alone<T>(operation: string, work: () => Promise<T>): Promise<T> {
    if (this.owner.closed) throw new GrpoError('CLOSED', operation, 'the policy has been closed; load it again');
    if (this.closed) throw new GrpoError('CLOSED', operation, 'the session has been closed; open another');
    if (this.busy !== undefined) {
      const message = `the session is busy with ${this.busy}; await that first, or fork the session`;
      throw new GrpoError('INVALID_ARGUMENT', operation, message);
    }
    this.busy = operation;
    try {
      return await work();
    } finally {
      this.busy = undefined;
    }
  }
}
