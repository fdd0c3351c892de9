import { GrpoError } from '../errors.js';
import { writeTokenBytes } from './byte-alphabet.js';
import { SequenceDecoder, type TokenDecoder } from './engines.js';
import type { AddedTokenEntry } from './files.js';
import type { TokenBytes } from './types.js';

type Json = Record<string, unknown>;

/** How token texts become text: bytes in GPT-2's alphabet, SentencePiece pieces, or whatever the file's decoder says. */
type Family = 'byte-level' | 'pieces' | 'other';

const BYTE_TOKEN = /^<0x[0-9A-Fa-f]{2}>$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

function decoderSteps(config: Json | null | undefined): Json[] {
  if (config === null || config === undefined) return [];
  return config.type === 'Sequence' ? (config.decoders as Json[]).flatMap(decoderSteps) : [config];
}

const PIECE_STEPS = new Set(['Replace', 'ByteFallback', 'Fuse', 'Strip', 'Metaspace']);

function familyOf(steps: Json[]): Family {
  const types = steps.map((step) => String(step.type));
  if (types.length === 1 && types[0] === 'ByteLevel') return 'byte-level';
  const pieces = types.length > 0 && types.every((type) => PIECE_STEPS.has(type));
  return pieces && (types.includes('Metaspace') || types.includes('ByteFallback')) ? 'pieces' : 'other';
}

/** The texts and bytes of all ids, and decoding. */
export class TokenTable {
  /** Token text by id, undefined where an id has no entry. */
  private readonly tokens: (string | undefined)[] = [];
  private readonly specialIds = new Set<number>();
  private readonly family: Family;
  private readonly byteFallback: boolean;
  /** One leading space of the whole text is an artefact of encoding. */
  private readonly stripsStart: boolean;
  private readonly other: TokenDecoder | undefined;
  private table: TokenBytes | undefined;

  constructor(tokenizer: Json, entries: [string, number][], addedTokens: AddedTokenEntry[]) {
    for (const [token, id] of entries) this.tokens[id] = token;
    for (const token of addedTokens) {
      this.tokens[token.id] = token.content;
      if (token.special) this.specialIds.add(token.id);
    }
    const config = tokenizer.decoder as Json | null;
    const steps = decoderSteps(config);
    this.family = familyOf(steps);
    this.byteFallback = steps.some((step) => step.type === 'ByteFallback');
    this.stripsStart = steps.some(
      (step) =>
        (step.type === 'Strip' && step.content === ' ' && Number(step.start) > 0) ||
        (step.type === 'Metaspace' && step.prepend_scheme !== 'never' && step.add_prefix_space !== false),
    );
    if (this.family === 'other' && steps.length > 0)
      this.other = new SequenceDecoder({ type: 'Sequence', decoders: steps });
  }

  /** Largest id + 1. */
  get size(): number {
    return this.tokens.length;
  }

  /** Writes a token's bytes, gives their number. */
  private write(token: string, out: Uint8Array, at: number): number {
    if (this.family === 'byte-level') return writeTokenBytes(token, out, at);
    if (this.family === 'pieces' && this.byteFallback && BYTE_TOKEN.test(token)) {
      out[at] = parseInt(token.slice(3, 5), 16);
      return 1;
    }
    return encoder.encodeInto(this.textOf(token), out.subarray(at)).written;
  }

  private textOf(token: string): string {
    if (this.family !== 'other') return token.replaceAll('\u2581', ' ');
    // Other decoders look at a token's place: its text is what it adds after another token.
    return this.other === undefined ? ` ${token}` : this.other.decode(['x', token]).slice(1);
  }

  /** Bytes of every id, made once. */
  bytes(): TokenBytes {
    if (this.table !== undefined) return this.table;
    const size = this.tokens.length;
    const offsets = new Uint32Array(size + 1);
    const present = new Uint8Array(size);
    let capacity = 0;
    // Three bytes at most for a UTF-16 unit, and a space before the token.
    for (let id = 0; id < size; id++) capacity += 3 * ((this.tokens[id]?.length ?? 0) + 1);
    const buffer = new Uint8Array(capacity);
    let total = 0;
    for (let id = 0; id < size; id++) {
      const token = this.tokens[id];
      if (token !== undefined) {
        total += this.write(token, buffer, total);
        present[id] = 1;
      }
      offsets[id + 1] = total;
    }
    this.table = { bytes: buffer.slice(0, total), offsets, present };
    return this.table;
  }

  private checked(ids: ArrayLike<number>, skipSpecialTokens: boolean): number[] {
    const kept: number[] = [];
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as number;
      if (this.tokens[id] === undefined) {
        const message = `ids[${i}] = ${id} has no entry in the tokenizer (ids are 0 to ${this.size - 1})`;
        throw new GrpoError('INVALID_ARGUMENT', 'decode', message);
      }
      if (!skipSpecialTokens || !this.specialIds.has(id)) kept.push(id);
    }
    return kept;
  }

  /** The bytes of a sequence, one token after the other. */
  concat(ids: ArrayLike<number>): Uint8Array {
    const { bytes, offsets } = this.bytes();
    let total = 0;
    for (let i = 0; i < ids.length; i++) total += offsets[(ids[i] as number) + 1]! - offsets[ids[i] as number]!;
    const out = new Uint8Array(total);
    let at = 0;
    for (let i = 0; i < ids.length; i++) {
      const part = bytes.subarray(offsets[ids[i] as number], offsets[(ids[i] as number) + 1]);
      out.set(part, at);
      at += part.length;
    }
    return out;
  }

  /**
   * Text of a sequence. Bytes that are no UTF-8 give U+FFFD; white space is never cleaned up, whatever the folder's
   * configuration says.
   *
   * @throws GrpoError INVALID_ARGUMENT for an id without an entry
   */
  decode(ids: ArrayLike<number>, skipSpecialTokens: boolean): string {
    const kept = this.checked(ids, skipSpecialTokens);
    if (this.family === 'byte-level') return decoder.decode(this.concat(kept));
    if (this.family === 'other') {
      const tokens = kept.map((id) => this.tokens[id] as string);
      return this.other === undefined ? tokens.join(' ') : this.other.decode(tokens);
    }
    const text = this.byteFallback ? this.decodePieces(kept) : decoder.decode(this.concat(kept));
    return this.stripsStart && text.startsWith(' ') ? text.slice(1) : text;
  }

  /** As the ByteFallback decoder: a run of byte tokens that is no UTF-8 gives one U+FFFD a byte. */
  private decodePieces(ids: number[]): string {
    let text = '';
    let run: number[] = [];
    const flush = (): void => {
      if (run.length === 0) return;
      try {
        text += strictDecoder.decode(Uint8Array.from(run));
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        text += '\uFFFD'.repeat(run.length);
      }
      run = [];
    };
    for (const id of ids) {
      const token = this.tokens[id] as string;
      if (BYTE_TOKEN.test(token)) run.push(parseInt(token.slice(3, 5), 16));
      else {
        flush();
        text += token.replaceAll('\u2581', ' ');
      }
    }
    flush();
    return text;
  }
}
