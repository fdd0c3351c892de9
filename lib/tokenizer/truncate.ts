import { GrpoError } from '../errors.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/**
 * The longest prefix (or suffix) of a text that ends (begins) at a token and encodes to at most `maxTokens` ids.
 *
 * @param encode text to ids
 * @param bytesOf bytes of ids; they are the text's own unless the tokenizer normalizes it
 */
export function truncateText(
  text: string,
  maxTokens: number,
  keep: 'start' | 'end',
  encode: (text: string) => ArrayLike<number>,
  bytesOf: (ids: ArrayLike<number>) => Uint8Array,
): { text: string; cut: boolean } {
  if (!Number.isInteger(maxTokens) || maxTokens < 0) {
    throw new GrpoError('INVALID_ARGUMENT', 'truncate', `maxTokens must be a whole number >= 0, but is ${maxTokens}`);
  }
  const ids = Array.from(encode(text));
  if (ids.length <= maxTokens) return { text, cut: false };
  const source = encoder.encode(text);
  const total = bytesOf(ids).length;
  for (let tokens = maxTokens; tokens > 0; tokens--) {
    const kept = keep === 'start' ? ids.slice(0, tokens) : ids.slice(-tokens);
    const share = bytesOf(kept).length;
    // A normalizer may have changed the length: the same share of the text then stands in for the same bytes.
    const length = total === source.length ? share : Math.floor((share / total) * source.length);
    const candidate = keep === 'start' ? prefix(source, length) : suffix(source, length);
    // Text cut inside a word can encode to more tokens than it had as a part of the word.
    if (encode(candidate).length <= maxTokens) return { text: candidate, cut: true };
  }
  return { text: '', cut: true };
}

function prefix(source: Uint8Array, length: number): string {
  let end = length;
  while (isContinuation(source[end])) end--;
  return decoder.decode(source.subarray(0, end));
}

function suffix(source: Uint8Array, length: number): string {
  let start = source.length - length;
  while (isContinuation(source[start])) start++;
  return decoder.decode(source.subarray(start));
}
