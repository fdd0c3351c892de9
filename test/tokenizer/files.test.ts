import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Message } from '../../lib/environments/types.js';
import { GrpoError } from '../../lib/errors.js';
import { defaultStopIds, Tokenizer } from '../../lib/tokenizer/index.js';
import { fixtures } from './checks.js';

const hello: Message[] = [{ role: 'user', content: 'Hi' }];

/** Runs in a copy of the small byte-level folder. */
async function inCopy(run: (folder: string, config: Record<string, unknown>) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenizer-'));
  try {
    await cp(join(fixtures, 'bytes'), folder, { recursive: true });
    const config = JSON.parse(await readFile(join(folder, 'tokenizer_config.json'), 'utf8')) as Record<string, unknown>;
    await run(folder, config);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function rejects(promise: Promise<unknown>, message: RegExp): Promise<void> {
  try {
    await promise;
  } catch (error) {
    assert.instance(error, GrpoError);
    assert.is((error as GrpoError).code, 'INVALID_TOKENIZER');
    assert.match((error as GrpoError).message, message);
    return;
  }
  assert.unreachable('should have been refused');
}

const write = (folder: string, name: string, value: unknown): Promise<void> =>
  writeFile(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));

test('a folder without tokenizer.json is an error, or undefined when asked gently', async () => {
  await inCopy(async (folder) => {
    await rm(join(folder, 'tokenizer.json'));
    await rejects(Tokenizer.load(folder), /has no tokenizer.json; copy the one of the model/);
    assert.is(await Tokenizer.loadIfPresent(folder), undefined);
  });
});

test('a folder with another tokenizer file is told how to make tokenizer.json', async () => {
  for (const name of ['tokenizer.model', 'vocab.json']) {
    await inCopy(async (folder) => {
      await rm(join(folder, 'tokenizer.json'));
      await write(folder, name, '{}');
      await rejects(
        Tokenizer.load(folder),
        new RegExp(`has ${name} but no tokenizer.json; make it once with: python3 -c`),
      );
    });
  }
});

test('files that do not parse are named', async () => {
  await inCopy(async (folder) => {
    await write(folder, 'tokenizer_config.json', '{"bos_token": ');
    await rejects(Tokenizer.load(folder), /tokenizer_config.json is not valid JSON/);
    await write(folder, 'tokenizer.json', '[]');
    await rejects(Tokenizer.load(folder), /tokenizer.json must hold a JSON object/);
    await write(folder, 'tokenizer.json', {});
    await write(folder, 'tokenizer_config.json', {});
    await rejects(Tokenizer.load(folder), /no model.vocab/);
  });
});

test('what is not supported in tokenizer.json is named', async () => {
  await inCopy(async (folder) => {
    const text = await readFile(join(folder, 'tokenizer.json'), 'utf8');
    const data = JSON.parse(text) as { model: Record<string, unknown>; pre_tokenizer: unknown };
    const pattern = { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false };
    await write(folder, 'tokenizer.json', { ...data, pre_tokenizer: pattern });
    await rejects(Tokenizer.load(folder), /behavior MergedWithPrevious, which is not supported/);
    await write(folder, 'tokenizer.json', { ...data, model: { ...data.model, type: 'Magic' } });
    await rejects(Tokenizer.load(folder), /model of type "Magic"; supported are BPE, Unigram, WordPiece, WordLevel/);
    await write(folder, 'tokenizer.json', { ...data, normalizer: { type: 'Magic' } });
    await rejects(Tokenizer.load(folder), /Magic/);
  });
});

test('chat_template.jinja comes before the configuration, which may name several templates', async () => {
  await inCopy(async (folder, config) => {
    const named = [
      { name: 'default', template: 'D{{ messages[0].content }}' },
      { name: 'tool_use', template: 'T{{ tools[0].function.name }}{{ messages[0].content }}' },
    ];
    await write(folder, 'tokenizer_config.json', { ...config, chat_template: named });
    const tokenizer = await Tokenizer.load(folder);
    const tools = [{ name: 'search', description: '', parameters: {} }];
    assert.is(tokenizer.applyChatTemplate(hello).text, 'DHi');
    assert.is(tokenizer.applyChatTemplate(hello, { tools }).text, 'TsearchHi');
    await write(folder, 'chat_template.jinja', 'J{{ messages[0].content }}\n');
    assert.is((await Tokenizer.load(folder)).applyChatTemplate(hello).text, 'JHi');
  });
});

test('a folder without a chat template says so when one is needed', async () => {
  await inCopy(async (folder, config) => {
    await write(folder, 'tokenizer_config.json', { ...config, chat_template: undefined });
    const tokenizer = await Tokenizer.load(folder);
    assert.is(tokenizer.hasChatTemplate, false);
    assert.is(tokenizer.turnEndId, undefined);
    assert.throws(() => tokenizer.applyChatTemplate(hello), /has no chat template; add chat_template.jinja/);
  });
});

test('a chat template that does not parse is an error at load', async () => {
  await inCopy(async (folder) => {
    await write(folder, 'chat_template.jinja', '{% if %}');
    await rejects(Tokenizer.load(folder), /chat template default could not be parsed/);
  });
});

test('default stop ids: the generation list and the turn end, else the configuration', async () => {
  await inCopy(async (folder) => {
    const stops = async (): Promise<number[]> => defaultStopIds(folder, await Tokenizer.loadIfPresent(folder));
    assert.equal(await stops(), [2, 3]);
    await write(folder, 'generation_config.json', { eos_token_id: 7 });
    assert.equal(await stops(), [7, 2]);
    await rm(join(folder, 'generation_config.json'));
    await write(folder, 'config.json', { eos_token_id: [5, 6] });
    assert.equal(await stops(), [5, 6, 2]);
    await rm(join(folder, 'tokenizer.json'));
    assert.equal(await stops(), [5, 6]);
    await write(folder, 'config.json', { eos_token_id: null });
    assert.equal(await stops(), []);
  });
});

test('added tokens that only tokenizer_config.json knows count as well', async () => {
  await inCopy(async (folder, config) => {
    const extra = { '500': { content: '<extra>', special: true } };
    await write(folder, 'tokenizer_config.json', { ...config, added_tokens_decoder: extra });
    const tokenizer = await Tokenizer.load(folder);
    assert.equal(Array.from(tokenizer.encode('<extra>', { parseAddedTokens: true })), [500]);
    assert.not.ok(tokenizer.encode('<extra>').includes(500));
    const { present } = tokenizer.tokenBytes();
    assert.equal([present.length, present[499], present[500]], [501, 0, 1]);
    assert.throws(() => tokenizer.decode([499]), /ids\[0\] = 499 has no entry/);
  });
});

test.run();
