import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { addedTokens, fixtures, llama3, load, qwen3 } from './checks.js';

const bytes = join(fixtures, 'bytes');
const pieces = join(fixtures, 'pieces');

test('a character cut in two by tokens comes back whole, and half of it as U+FFFD', async () => {
  const tokenizer = await load(bytes);
  const ids = tokenizer.encode('😀');
  assert.is(ids.length, 4);
  assert.is(tokenizer.decode(ids), '😀');
  assert.is(tokenizer.decode(ids.slice(0, 3)), '\uFFFD');
  assert.is(tokenizer.decode(ids.slice(1)), '\uFFFD\uFFFD\uFFFD');
});

test('byte fallback gives one U+FFFD a byte of a run that is no UTF-8', async () => {
  const tokenizer = await load(pieces);
  const ids = Array.from(tokenizer.encode('😀')).slice(-4);
  assert.is(tokenizer.decode(ids), '😀');
  assert.is(tokenizer.decode(ids.slice(0, 3)), '\uFFFD\uFFFD\uFFFD');
});

test('white space is not cleaned up, though the folder asks for it', async () => {
  const tokenizer = await load(llama3);
  assert.is(tokenizer.decode(tokenizer.encode("a , b ! do n't")), "a , b ! do n't");
});

test('skipSpecialTokens leaves special tokens out, and added tokens that are not special in', async () => {
  const tokenizer = await load(qwen3);
  const ids = tokenizer.encode('<|im_start|>a<think>b<|im_end|>', { parseAddedTokens: true });
  assert.is(tokenizer.decode(ids), '<|im_start|>a<think>b<|im_end|>');
  assert.is(tokenizer.decode(ids, { skipSpecialTokens: true }), 'a<think>b');
});

test('an id without an entry is an error that names it', async () => {
  const tokenizer = await load(qwen3);
  for (const id of [151_700, -1, 1.5, NaN]) {
    try {
      tokenizer.decode([1, id]);
      assert.unreachable();
    } catch (error) {
      assert.instance(error, GrpoError);
      assert.is((error as GrpoError).code, 'INVALID_ARGUMENT');
      assert.match((error as GrpoError).message, `ids[1] = ${id}`);
    }
  }
});

test('tokenBytes joined are the bytes of the text, for byte-level vocabularies', async () => {
  for (const folder of [bytes, qwen3, llama3]) {
    const tokenizer = await load(folder);
    const { bytes: all, offsets, present } = tokenizer.tokenBytes();
    const text = 'def f(x):\n    return "é😀" <|im_end|> <think>';
    const ids = tokenizer.encode(text, { parseAddedTokens: true });
    const joined = Array.from(ids).flatMap((id) => Array.from(all.subarray(offsets[id], offsets[id + 1])));
    assert.equal(Buffer.from(joined).toString(), text);
    assert.is(offsets.length, present.length + 1);
    assert.is(offsets.at(-1), all.length);
  }
});

test('tokenBytes of pieces are spaces and bytes, not their spelling', async () => {
  const tokenizer = await load(pieces);
  const { bytes: all, offsets } = tokenizer.tokenBytes();
  const text = ' the quick 😀';
  const ids = tokenizer.encode(text.slice(1));
  const joined = Array.from(ids).flatMap((id) => Array.from(all.subarray(offsets[id], offsets[id + 1])));
  assert.equal(Buffer.from(joined).toString(), text);
});

test('the support is the ids with an entry, added tokens too', async () => {
  const tokenizer = await load(qwen3);
  const { present } = tokenizer.tokenBytes();
  assert.is(present.length, 151_669);
  assert.is(
    present.reduce((sum, value) => sum + value, 0),
    151_669,
  );
  for (const { id } of addedTokens(qwen3)) assert.is(present[id], 1);
});

test('truncate keeps a prefix or suffix of the text within the tokens', async () => {
  for (const folder of [bytes, pieces, qwen3, llama3]) {
    const tokenizer = await load(folder);
    const text = 'for i in range(10): print("é😀 and more") '.repeat(20);
    for (const limit of [0, 1, 7, 60]) {
      const head = tokenizer.truncate(text, limit);
      const tail = tokenizer.truncate(text, limit, 'end');
      assert.ok(head.cut && tail.cut);
      assert.ok(text.startsWith(head.text) && text.endsWith(tail.text), folder);
      assert.ok(tokenizer.encode(head.text).length <= limit && tokenizer.encode(tail.text).length <= limit);
      if (limit === 60) assert.ok(tokenizer.encode(head.text).length > 50 && tokenizer.encode(tail.text).length > 50);
    }
    assert.equal(tokenizer.truncate(text, 100_000), { text, cut: false });
  }
});

test('truncate refuses a limit that is no whole number', async () => {
  const tokenizer = await load(bytes);
  assert.throws(() => tokenizer.truncate('a', -1), /maxTokens must be a whole number >= 0/);
});

test.run();
