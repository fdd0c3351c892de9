import type { Message } from '../../lib/environments/types.js';
import type {
  GenerateOptions,
  NumberArray,
  PolicyLike,
  Session,
  SessionRow,
  Turn,
  UpdateOptions,
  UpdateStats,
} from '../../lib/policy/types.js';
import type { Tokenizer } from '../../lib/tokenizer/index.js';
import { GrpoError } from '../../lib/errors.js';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Ends a turn; no text holds it. */
export const TURN_END = 1;
const HEADER = 2;

const encode = (text: string) =>
  Int32Array.from(Array.from(text, (letter) => Math.max(3, letter.codePointAt(0) as number)));
const decode = (ids: ArrayLike<number>) =>
  Array.from(ids, (id) => (id === TURN_END ? '<end>' : id === HEADER ? '<turn>' : String.fromCodePoint(id))).join('');
const render = (message: Message) => [HEADER, ...encode(`${message.role}\n${message.content}`), TURN_END, 10];
const header = [HEADER, ...encode('assistant\n')];

/** One character, one token. */
export const charTokenizer: Tokenizer = {
  encode,
  decode,
  applyChatTemplate(messages, options) {
    const ids = [...messages.flatMap(render), ...(options?.addGenerationPrompt ? header : [])];
    return { text: decode(ids), ids: Int32Array.from(ids) };
  },
  encodeConversation(messages) {
    const parts = messages.map((message) => ({ ids: render(message), own: message.role === 'assistant' }));
    const mask = parts.flatMap(({ ids, own }) =>
      ids.map((_, t) => (own && t >= header.length && t < ids.length - 1 ? 1 : 0)),
    );
    return { ids: Int32Array.from(parts.flatMap(({ ids }) => ids)), mask: Uint8Array.from(mask) };
  },
  continuation: (_messages, next, ended) =>
    Int32Array.from([...(ended ? [] : [TURN_END]), 10, ...next.flatMap(render), ...header]),
  truncate(text, maxTokens, keep = 'start') {
    if (text.length <= maxTokens) return { text, cut: false };
    return { text: keep === 'start' ? text.slice(0, maxTokens) : text.slice(text.length - maxTokens), cut: true };
  },
  tokenBytes: () => ({ bytes: new Uint8Array(), offsets: new Uint32Array(1), present: new Uint8Array() }),
  turnEndId: TURN_END,
  bosId: undefined,
  hasChatTemplate: true,
  handlesToolRole: false,
  stopIds: [TURN_END],
};

/** What the model says next, from the whole text so far and the turn's seed. */
export type Script = (context: string, seed: number) => string | Promise<string>;

export interface FakeOptions {
  script: Script;
  maxContext?: number;
  /** Called with the rows of every update. */
  onUpdate?: (options: UpdateOptions) => void | Promise<void>;
}

/** A policy whose words come from a script; counts what it is asked to do. */
export class FakePolicy implements PolicyLike {
  readonly tokenizer = charTokenizer;
  readonly stopIds = [TURN_END];
  readonly maxContext: number;
  weightsVersion = 0;
  opened = 0;
  alive = 0;
  generating = 0;
  mostGenerating = 0;
  seeds: number[] = [];
  updates: UpdateOptions[] = [];
  closed = false;

  constructor(readonly options: FakeOptions) {
    this.maxContext = options.maxContext ?? 4096;
  }

  async open(promptIds: NumberArray): Promise<Session> {
    this.opened++;
    return new FakeSession(
      this,
      Array.from(promptIds),
      Array.from(promptIds, () => 0),
      [],
    );
  }

  async logprobs(rows: NumberArray[]): Promise<Float32Array[]> {
    return rows.map((row) => new Float32Array(row.length - 1));
  }

  async update(options: UpdateOptions): Promise<UpdateStats> {
    await this.options.onUpdate?.(options);
    if (options.signal?.aborted) throw new GrpoError('ABORTED', 'update', 'aborted');
    this.updates.push(options);
    this.weightsVersion++;
    const tokens = options.rows.reduce((sum, row) => sum + Array.from(row.mask).filter((bit) => bit === 1).length, 0);
    return {
      loss: 0.25,
      kl: null,
      entropy: 1.5,
      gradNorm: 0.5,
      clipFraction: 0,
      ratioMax: 1,
      tokens,
      rows: options.rows.length,
      skipped: null,
      samplerTrainerGap: 1e-6,
      seconds: 0.01,
      peakBytes: 1000,
    };
  }

  async saveAdapter(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'adapter_config.json'), JSON.stringify({ version: this.weightsVersion }));
  }

  async exportMerged(folder: string): Promise<void> {
    await this.saveAdapter(folder);
  }

  async saveCheckpoint(folder: string): Promise<void> {
    await this.saveAdapter(join(folder, 'adapter'));
  }

  /** Goes on with the weights of a checkpoint. */
  async restore(folder: string): Promise<void> {
    const text = await readFile(join(folder, 'adapter', 'adapter_config.json'), 'utf8');
    this.weightsVersion = (JSON.parse(text) as { version: number }).version;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

class FakeSession implements Session {
  #pending: string | undefined;
  #closed = false;
  #forking = false;

  constructor(
    readonly policy: FakePolicy,
    readonly ids: number[],
    readonly mask: number[],
    readonly logs: number[],
  ) {
    policy.alive++;
    while (this.logs.length < ids.length - 1) this.logs.push(NaN);
  }

  get length(): number {
    return this.ids.length;
  }

  async generate(options: GenerateOptions): Promise<Turn> {
    const { policy } = this;
    policy.seeds.push(options.seed ?? -1);
    policy.generating++;
    policy.mostGenerating = Math.max(policy.mostGenerating, policy.generating);
    await new Promise((resolve) => setImmediate(resolve));
    this.#pending ??= await policy.options.script(decode(this.ids), options.seed ?? 0);
    policy.generating--;
    const letters = [...Array.from(encode(this.#pending)), TURN_END];
    const taken: number[] = [];
    let finishReason: Turn['finishReason'] = 'length';
    for (const id of letters) {
      if (options.signal?.aborted) finishReason = 'aborted';
      if (this.ids.length >= policy.maxContext) finishReason = 'context';
      if (finishReason !== 'length' || taken.length >= options.maxNewTokens) break;
      taken.push(id);
      this.#add(id, 1, -0.5);
      const text = decode(taken);
      if (id === TURN_END || options.stop?.some((stop) => text.endsWith(stop))) {
        finishReason = 'stop';
        break;
      }
    }
    this.#pending = decode(letters.slice(taken.length, -1));
    if (taken.at(-1) === TURN_END) this.#pending = undefined;
    return {
      ids: Int32Array.from(taken),
      logprobs: Float32Array.from(taken, () => -0.5),
      finishReason,
      text: decode(taken),
      weightsVersion: policy.weightsVersion,
      truncatedMass: 0.125,
    };
  }

  #add(id: number, mask: number, log: number): void {
    if (this.ids.length > 0) this.logs.push(log);
    this.ids.push(id);
    this.mask.push(mask);
  }

  async append(ids: NumberArray): Promise<void> {
    this.#pending = undefined;
    for (const id of Array.from(ids)) this.#add(id, 0, NaN);
  }

  async fork(): Promise<Session> {
    if (this.#forking) throw new Error('the session is busy with fork');
    this.#forking = true;
    await new Promise((resolve) => setImmediate(resolve));
    this.#forking = false;
    return new FakeSession(this.policy, [...this.ids], [...this.mask], [...this.logs]);
  }

  row(): SessionRow {
    return {
      ids: Int32Array.from(this.ids),
      mask: Uint8Array.from(this.mask),
      samplerLogprobs: Float32Array.from(this.logs),
    };
  }

  close(): void {
    if (this.#closed) throw new Error('closed twice');
    this.#closed = true;
    this.policy.alive--;
  }
}
