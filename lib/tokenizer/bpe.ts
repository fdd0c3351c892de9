import { GrpoError } from '../errors.js';

type Json = Record<string, unknown>;

/** Up to here a scan over the word for the best pair beats a heap. */
const SCAN_LENGTH = 24;
const POSITIONS = 2 ** 32;

const encoder = new TextEncoder();

/** A binary heap of numbers, smallest first. */
class MinHeap {
  private readonly items: number[] = [];

  push(value: number): void {
    const { items } = this;
    let at = items.length;
    items.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((items[parent] as number) <= value) break;
      items[at] = items[parent] as number;
      at = parent;
    }
    items[at] = value;
  }

  pop(): number | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && (items[child + 1] as number) < (items[child] as number)) child++;
      if ((items[child] as number) >= last) break;
      items[at] = items[child] as number;
      at = child;
    }
    items[at] = last;
    return top;
  }
}

/**
 * Byte-pair encoding on ids, with the rules of the Rust library: lowest rank first, leftmost among equals.
 *
 * The JavaScript library's version keeps its ranks under JSON texts: five times slower on words it has not seen, and
 * seconds to load.
 */
export class BytePairModel {
  private readonly ids: Map<string, number>;
  /** left * size + right -> rank */
  private readonly ranks = new Map<number, number>();
  /** id that a merge of this rank gives */
  private readonly merged: Int32Array;
  private readonly size: number;
  private readonly unknownId: number | undefined;
  private readonly fuseUnknown: boolean;
  private readonly byteFallback: boolean;
  private readonly ignoreMerges: boolean;

  /**
   * @param entries the vocabulary
   * @param removed ids that must not come out
   */
  constructor(config: Json, entries: [string, number][], removed: ReadonlySet<number>) {
    for (const name of ['continuing_subword_prefix', 'end_of_word_suffix']) {
      if (!config[name]) continue;
      const message = `tokenizer.json: a BPE model with ${name} ${JSON.stringify(config[name])} is not supported`;
      throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', message);
    }
    this.ids = new Map(entries);
    let size = 0;
    for (const id of this.ids.values()) size = Math.max(size, id + 1);
    this.size = size;
    this.unknownId = typeof config.unk_token === 'string' ? this.ids.get(config.unk_token) : undefined;
    this.fuseUnknown = config.fuse_unk === true;
    this.byteFallback = config.byte_fallback === true;
    this.ignoreMerges = config.ignore_merges === true;
    this.merged = this.readMerges(config.merges as (string | [string, string])[], removed);
    if (removed.size > 0) for (const [token, id] of this.ids) if (removed.has(id)) this.ids.delete(token);
  }

  private readMerges(merges: (string | [string, string])[], removed: ReadonlySet<number>): Int32Array {
    const merged = new Int32Array(merges.length);
    for (let rank = 0; rank < merges.length; rank++) {
      const merge = merges[rank] as string | [string, string];
      const space = typeof merge === 'string' ? merge.indexOf(' ') : 0;
      const left = typeof merge === 'string' ? merge.slice(0, space) : merge[0];
      const right = typeof merge === 'string' ? merge.slice(space + 1) : merge[1];
      const leftId = this.ids.get(left);
      const rightId = this.ids.get(right);
      const id = this.ids.get(left + right);
      if (leftId === undefined || rightId === undefined || id === undefined) {
        const message = `tokenizer.json: merge ${rank} (${left} ${right}) names a token that is not in the vocabulary; fetch the file again`;
        throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', message);
      }
      merged[rank] = id;
      if (!removed.has(id)) this.ranks.set(leftId * this.size + rightId, rank);
    }
    return merged;
  }

  /** Ids of one word (pre-token). */
  encode(word: string): number[] {
    if (this.ignoreMerges) {
      const id = this.ids.get(word);
      if (id !== undefined) return [id];
    }
    const symbols = this.symbolsOf(word);
    if (symbols.length < 2) return symbols;
    return symbols.length <= SCAN_LENGTH ? this.mergeByScan(symbols) : this.mergeByHeap(symbols);
  }

  private symbolsOf(word: string): number[] {
    const symbols: number[] = [];
    let unknownBefore = false;
    for (const character of word) {
      const id = this.ids.get(character);
      const fallback = id === undefined && this.byteFallback ? this.bytesOf(character) : undefined;
      if (id !== undefined) symbols.push(id);
      else if (fallback !== undefined) symbols.push(...fallback);
      else if (this.unknownId === undefined) {
        const message = `${JSON.stringify(character)} has no entry in the vocabulary, which has no unknown token either`;
        throw new GrpoError('INVALID_TOKENIZER', 'encode', message);
      } else if (!this.fuseUnknown || !unknownBefore) symbols.push(this.unknownId);
      unknownBefore = id === undefined && fallback === undefined;
    }
    return symbols;
  }

  private bytesOf(character: string): number[] | undefined {
    const ids: number[] = [];
    for (const byte of encoder.encode(character)) {
      const id = this.ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
      if (id === undefined) return undefined;
      ids.push(id);
    }
    return ids;
  }

  private rank(left: number, right: number): number {
    return this.ranks.get(left * this.size + right) ?? Infinity;
  }

  private mergeByScan(symbols: number[]): number[] {
    const ranks = symbols.slice(1).map((right, i) => this.rank(symbols[i] as number, right));
    for (;;) {
      let best = -1;
      let lowest = Infinity;
      for (let i = 0; i < ranks.length; i++) {
        if ((ranks[i] as number) < lowest) {
          lowest = ranks[i] as number;
          best = i;
        }
      }
      if (best < 0) return symbols;
      symbols.splice(best, 2, this.merged[lowest] as number);
      ranks.splice(best, 1);
      if (best > 0) ranks[best - 1] = this.rank(symbols[best - 1] as number, symbols[best] as number);
      if (best < ranks.length) ranks[best] = this.rank(symbols[best] as number, symbols[best + 1] as number);
    }
  }

  private mergeByHeap(symbols: number[]): number[] {
    const n = symbols.length;
    const next = Int32Array.from(symbols, (_, i) => i + 1);
    const previous = Int32Array.from(symbols, (_, i) => i - 1);
    const ids = Int32Array.from(symbols);
    // Rank of the pair that begins at a place; an entry of the heap that says otherwise is out of date.
    const ranks = new Float64Array(n).fill(Infinity);
    const heap = new MinHeap();
    const offer = (at: number): void => {
      const right = next[at] as number;
      const rank = right < n ? this.rank(ids[at] as number, ids[right] as number) : Infinity;
      ranks[at] = rank;
      if (rank !== Infinity) heap.push(rank * POSITIONS + at);
    };
    for (let at = 0; at < n - 1; at++) offer(at);
    for (let top = heap.pop(); top !== undefined; top = heap.pop()) {
      const rank = Math.floor(top / POSITIONS);
      const at = top % POSITIONS;
      if (ranks[at] !== rank) continue;
      const right = next[at] as number;
      const after = next[right] as number;
      ids[at] = this.merged[rank] as number;
      ids[right] = -1;
      ranks[right] = Infinity;
      next[at] = after;
      if (after < n) previous[after] = at;
      offer(at);
      if ((previous[at] as number) >= 0) offer(previous[at] as number);
    }
    const out: number[] = [];
    for (let at = 0; at < n; at = next[at] as number) out.push(ids[at] as number);
    return out;
  }
}
