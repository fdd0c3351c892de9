import type { TokenBytes } from '../tokenizer/types.js';
import type { Segment } from './types.js';

/** A run of tokens whose bytes are whole characters: one token nearly always. */
export interface Piece {
  text: string;
  /** Its tokens are from..to (exclusive) of the ids given. */
  from: number;
  to: number;
}

const idText = (id: number) => `⟨id ${id}⟩`;

/** Bytes that a whole character needs at most. */
const CHARACTER_BYTES = 4;

/**
 * Texts of tokens, one after the other. A character whose bytes are spread over several tokens makes one piece of them; bytes
 * that are no UTF-8 give U+FFFD; an id without an entry is named.
 *
 * @param ids (T)
 */
export function tokenPieces(ids: readonly number[], { bytes, offsets, present }: TokenBytes): Piece[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pieces: Piece[] = [];
  let pending: number[] = [];
  let from = 0;
  const close = (to: number) => {
    if (to > from) pieces.push({ text: decoder.decode(Uint8Array.from(pending)), from, to });
    pending = [];
    from = to;
  };
  ids.forEach((id, index) => {
    if (present[id] !== 1) {
      close(index);
      pieces.push({ text: idText(id), from: index, to: index + 1 });
      from = index + 1;
      return;
    }
    pending.push(...bytes.subarray(offsets[id], offsets[id + 1]));
    if (!endsInside(pending)) close(index + 1);
  });
  close(ids.length);
  return pieces;
}

/** Whether bytes end in the middle of a character that could still become whole. */
function endsInside(bytes: readonly number[]): boolean {
  for (let back = 1; back <= Math.min(CHARACTER_BYTES, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return false;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return byte <= 0xf4 && needed > back;
  }
  return false;
}

/** Sums over a piece; null where an entry has none. */
function pieceLogprob(logprobs: readonly (number | null)[], from: number, to: number): number | null {
  let sum = 0;
  for (let t = from; t < to; t++) {
    // Entry t - 1 belongs to token t.
    const value = t === 0 ? null : logprobs[t - 1];
    if (value === null || value === undefined) return null;
    sum += value;
  }
  return Math.round(sum * 1e4) / 1e4;
}

export interface RowLimits {
  /** Characters of a given stretch. */
  characters: number;
  /** Pieces of a sampled stretch. */
  pieces: number;
  /** Stretches of a row. */
  segments: number;
}

/** Text within a limit, and how many characters were left out; never half a surrogate pair. */
export function shortened(text: string, characters: number): { text: string; cut?: number } {
  if (text.length <= characters) return { text };
  const end = /[\uD800-\uDBFF]/.test(text[characters - 1] ?? '') ? characters - 1 : characters;
  return { text: text.slice(0, end), cut: text.length - end };
}

/**
 * A row as stretches that were sampled (mask 1) and given (mask 0).
 *
 * @param row ids and mask (T), logprobs (T - 1) in nats
 */
export function rowSegments(
  row: { ids: readonly number[]; mask: readonly number[]; logprobs: readonly (number | null)[] },
  table: TokenBytes,
  limits: RowLimits,
): Segment[] {
  const segments: Segment[] = [];
  for (let start = 0; start < row.ids.length;) {
    if (segments.length === limits.segments) {
      const tokens = row.ids.length - start;
      segments.push({ start, tokens, sampled: false, text: '', cut: tokens });
      break;
    }
    const sampled = row.mask[start] === 1;
    let end = start + 1;
    while (end < row.ids.length && (row.mask[end] === 1) === sampled) end++;
    const pieces = tokenPieces(row.ids.slice(start, end), table);
    const common = { start, tokens: end - start, sampled };
    if (sampled) {
      const kept = pieces.slice(0, limits.pieces);
      segments.push({
        ...common,
        pieces: kept.map(({ text }) => text),
        logprobs: kept.map(({ from, to }) => pieceLogprob(row.logprobs, common.start + from, common.start + to)),
        ...(kept.length < pieces.length ? { cut: pieces.length - kept.length } : {}),
      });
    } else {
      segments.push({ ...common, ...shortened(pieces.map(({ text }) => text).join(''), limits.characters) });
    }
    start = end;
  }
  return segments;
}
