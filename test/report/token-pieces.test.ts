import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rowSegments, shortened, tokenPieces } from '../../lib/report/token-pieces.js';
import { Tokenizer } from '../../lib/tokenizer/index.js';
import type { TokenBytes } from '../../lib/tokenizer/types.js';
import { TOKENIZER_FOLDER } from './synthetic-run.js';

/** A table whose ids are these byte strings; undefined = no entry. */
function table(...entries: (number[] | undefined)[]): TokenBytes {
  const offsets = new Uint32Array(entries.length + 1);
  entries.forEach((entry, id) => (offsets[id + 1] = offsets[id]! + (entry?.length ?? 0)));
  return {
    bytes: Uint8Array.from(entries.flatMap((entry) => entry ?? [])),
    offsets,
    present: Uint8Array.from(entries, (entry) => (entry ? 1 : 0)),
  };
}

// 0: "a", 1 and 2: the halves of é, 3 to 5: € in three bytes, 6: no entry, 7: a lone continuation byte
const TABLE = table([0x61], [0xc3], [0xa9], [0xe2], [0x82], [0xac], undefined, [0xa9]);
const texts = (ids: number[]) => tokenPieces(ids, TABLE).map(({ text, from, to }) => [text, from, to]);

test('tokens that share a character make one piece', () => {
  assert.equal(texts([0, 1, 2, 0, 3, 4, 5]), [
    ['a', 0, 1],
    ['é', 1, 3],
    ['a', 3, 4],
    ['€', 4, 7],
  ]);
});

test('bytes that are no characters give U+FFFD, and end where they cannot go on', () => {
  assert.equal(texts([7, 0]), [
    ['\uFFFD', 0, 1],
    ['a', 1, 2],
  ]);
  assert.equal(texts([1, 0]), [['\uFFFDa', 0, 2]]);
  assert.equal(texts([0, 3, 4]), [
    ['a', 0, 1],
    ['\uFFFD', 1, 3],
  ]);
});

test('an id without an entry is named, and cuts a character', () => {
  assert.equal(texts([1, 6, 2]), [
    ['\uFFFD', 0, 1],
    ['⟨id 6⟩', 1, 2],
    ['\uFFFD', 2, 3],
  ]);
});

test('pieces of a real tokenizer put the text together again', async () => {
  const tokenizer = await Tokenizer.load(TOKENIZER_FOLDER);
  const text = 'naïve “quotes” 🔎 と <|im_end|>\n\tdef f(x): return x…';
  const pieces = tokenPieces([...tokenizer.encode(text)], tokenizer.tokenBytes());
  assert.is(pieces.map((piece) => piece.text).join(''), text);
  assert.ok(
    pieces.some(({ from, to }) => to - from > 1),
    'some character is spread over tokens',
  );
});

test('a row is cut where its mask changes, and log-probs of shared characters add up', () => {
  const row = { ids: [0, 0, 1, 2, 0], mask: [0, 0, 1, 1, 0], logprobs: [null, -0.5, -0.25, null] };
  assert.equal(rowSegments(row, TABLE, { characters: 10, pieces: 10, segments: 9 }), [
    { start: 0, tokens: 2, sampled: false, text: 'aa' },
    { start: 2, tokens: 2, sampled: true, pieces: ['é'], logprobs: [-0.75] },
    { start: 4, tokens: 1, sampled: false, text: 'a' },
  ]);
});

test('what is longer than the limits is cut, and says by how much', () => {
  const row = { ids: [0, 0, 0, 0, 0], mask: [0, 0, 1, 1, 1], logprobs: [null, -1, -1, -1] };
  assert.equal(rowSegments(row, TABLE, { characters: 1, pieces: 2, segments: 9 }), [
    { start: 0, tokens: 2, sampled: false, text: 'a', cut: 1 },
    { start: 2, tokens: 3, sampled: true, pieces: ['a', 'a'], logprobs: [-1, -1], cut: 1 },
  ]);
  assert.equal(rowSegments(row, TABLE, { characters: 9, pieces: 2, segments: 1 }), [
    { start: 0, tokens: 2, sampled: false, text: 'aa' },
    { start: 2, tokens: 3, sampled: false, text: '', cut: 3 },
  ]);
  assert.equal(shortened('ab🔎', 3), { text: 'ab', cut: 2 });
  assert.equal(shortened('ab', 2), { text: 'ab' });
});

test.run();
