import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenerateOptions, NumberArray, PolicyLike, Session, SessionRow, Turn } from '../../lib/policy/types.js';
import { Tokenizer } from '../../lib/tokenizer/index.js';

const loaded = new Map<string, Promise<Tokenizer>>();

/** A tokenizer folder with another chat template, loaded once. */
export function withTemplate(folder: string, template: string): Promise<Tokenizer> {
  const key = `${folder} ${template}`;
  const tokenizer = loaded.get(key) ?? make(folder, template);
  loaded.set(key, tokenizer);
  return tokenizer;
}

async function make(folder: string, template: string): Promise<Tokenizer> {
  const made = mkdtempSync(join(tmpdir(), 'grpo-template-'));
  const config = JSON.parse(readFileSync(join(folder, 'tokenizer_config.json'), 'utf8')) as object;
  writeFileSync(join(made, 'tokenizer_config.json'), JSON.stringify({ ...config, chat_template: template }));
  symlinkSync(join(folder, 'tokenizer.json'), join(made, 'tokenizer.json'));
  return Tokenizer.load(made);
}

/** What the model says in its next turn; undefined ends by the token limit. */
export type Reply = (turn: number) => string;

/** A policy over a real tokenizer that says given texts one character at a time, which no encoder would give. */
export class ScriptedPolicy implements Pick<PolicyLike, 'open'> {
  readonly stopIds: readonly number[];
  readonly maxContext = 100_000;
  weightsVersion = 0;

  constructor(
    readonly tokenizer: Tokenizer,
    readonly reply: Reply,
  ) {
    this.stopIds = tokenizer.stopIds;
  }

  async open(promptIds: NumberArray): Promise<Session> {
    return new ScriptedSession(
      this,
      Array.from(promptIds),
      Array.from(promptIds, () => 0),
      0,
    );
  }

  /** As the rollout takes it: it calls nothing but `open`. */
  get asPolicy(): PolicyLike {
    return this as unknown as PolicyLike;
  }
}

class ScriptedSession implements Session {
  constructor(
    readonly policy: ScriptedPolicy,
    readonly ids: number[],
    readonly mask: number[],
    private turn: number,
  ) {}

  get length(): number {
    return this.ids.length;
  }

  async generate(options: GenerateOptions): Promise<Turn> {
    const { tokenizer } = this.policy;
    const text = this.policy.reply(this.turn++);
    const taken: number[] = [];
    let finishReason: Turn['finishReason'] = 'length';
    let said = '';
    for (const letter of text) {
      taken.push(...tokenizer.encode(letter));
      said += letter;
      if (options.stop?.some((stop) => said.endsWith(stop))) {
        finishReason = 'stop';
        break;
      }
    }
    if (finishReason !== 'stop') {
      finishReason = 'stop';
      taken.push(tokenizer.turnEndId as number);
    }
    this.ids.push(...taken);
    this.mask.push(...taken.map(() => 1));
    const ids = Int32Array.from(taken);
    const logprobs = new Float32Array(ids.length);
    return { ids, logprobs, finishReason, text: tokenizer.decode(ids), weightsVersion: 0, truncatedMass: 0 };
  }

  async append(ids: NumberArray): Promise<void> {
    for (const id of Array.from(ids)) {
      this.ids.push(id);
      this.mask.push(0);
    }
  }

  async fork(): Promise<Session> {
    return new ScriptedSession(this.policy, [...this.ids], [...this.mask], this.turn);
  }

  row(): SessionRow {
    return {
      ids: Int32Array.from(this.ids),
      mask: Uint8Array.from(this.mask),
      samplerLogprobs: new Float32Array(Math.max(0, this.ids.length - 1)),
    };
  }

  close(): void {}
}
