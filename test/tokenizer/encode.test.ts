import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkEncodings, checkNoAddedToken, fixtures, llama3, load, qwen3 } from './checks.js';

const folders = { bytes: join(fixtures, 'bytes'), pieces: join(fixtures, 'pieces'), qwen3, llama3 };

for (const [name, folder] of Object.entries(folders)) {
  test(`${name}: ids are those of the reference library`, async () => {
    checkEncodings(await load(folder), name);
  });

  test(`${name}: no text gives the id of an added token`, async () => {
    checkNoAddedToken(await load(folder), folder);
  });
}

test('text gives added tokens when asked for, longest first', async () => {
  const tokenizer = await load(qwen3);
  const ids = tokenizer.encode('<|im_end|>\n<think>a</think>', { parseAddedTokens: true });
  assert.equal(Array.from(ids), [151645, 198, 151667, 64, 151668]);
});

test('a word of the vocabulary that is also an added token is spelled in smaller tokens', async () => {
  const tokenizer = await load(folders.bytes);
  const [id] = tokenizer.encode('callback', { parseAddedTokens: true });
  const ids = tokenizer.encode('callback');
  assert.is(tokenizer.decode([id as number]), 'callback');
  assert.ok(ids.length > 1 && !ids.includes(id as number));
  assert.is(tokenizer.decode(ids), 'callback');
});

test('addBos puts the bos token first, once', async () => {
  const tokenizer = await load(llama3);
  assert.equal(Array.from(tokenizer.encode('Hello', { addBos: true })), [128000, 9906]);
});

test('addBos where there is no bos token is an error', async () => {
  const tokenizer = await load(qwen3);
  assert.throws(() => tokenizer.encode('Hello', { addBos: true }), /addBos.*no bos token/);
});

test('what is no string is refused', async () => {
  const tokenizer = await load(folders.bytes);
  assert.throws(
    () => tokenizer.encode(undefined as unknown as string),
    /text must be a string, but is of type undefined/,
  );
});

test('the empty text has no ids', async () => {
  const tokenizer = await load(folders.bytes);
  assert.is(tokenizer.encode('').length, 0);
  assert.is(tokenizer.decode([]), '');
});

test('100,000 characters are encoded in under a second, one word or many', async () => {
  const tokenizer = await load(qwen3);
  let word = '';
  for (let i = 0; i < 100_000; i++) word += String.fromCharCode(97 + ((i * i + (i >> 3)) % 26));
  const lines = Array.from({ length: 4000 }, (_, i) => `const value${i} = f(${i * 7919});`).join('\n');
  for (const text of [word, lines.slice(0, 100_000)]) {
    const start = process.cpuUsage();
    const ids = tokenizer.encode(text);
    const { user } = process.cpuUsage(start);
    assert.ok(user < 1_000_000, `${user} us of processor time`);
    assert.is(tokenizer.decode(ids), text);
  }
});

test.run();
