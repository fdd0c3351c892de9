/** GPT-2's byte alphabet: each byte as one printable character. */

const encoder = new TextEncoder();

const CHARACTER_OF_BYTE: string[] = [];
/** Code point -> byte; -1 outside the alphabet. */
const BYTE_OF_CODE_POINT = new Int16Array(512).fill(-1);

let next = 256;
for (let byte = 0; byte < 256; byte++) {
  const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const codePoint = printable ? byte : next++;
  CHARACTER_OF_BYTE.push(String.fromCodePoint(codePoint));
  BYTE_OF_CODE_POINT[codePoint] = byte;
}

/** Text with each byte of its UTF-8 written as the byte's character. */
export function toByteAlphabet(text: string): string {
  let out = '';
  for (const byte of encoder.encode(text)) out += CHARACTER_OF_BYTE[byte] as string;
  return out;
}

/**
 * Bytes of a token of a byte-level vocabulary, written into `out` at `at`; gives their number. As in the Rust decoder, a
 * token with any character outside the alphabet is plain text.
 */
export function writeTokenBytes(token: string, out: Uint8Array, at: number): number {
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF_CODE_POINT[token.charCodeAt(i)] ?? -1;
    if (byte < 0) return encoder.encodeInto(token, out.subarray(at)).written;
    out[at + i] = byte;
  }
  return token.length;
}
