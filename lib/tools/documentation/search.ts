import { distance } from 'fastest-levenshtein';
import MiniSearch from 'minisearch';
import type { DocumentationData, DocumentationEntry } from './entries.js';
import { compact, nameWords, normalizeWord, proseWords } from './words.js';

/** One answer of the documentation search. */
export interface DocumentationHit {
  name: string;
  signature: string;
  text: string;
  /** Larger is better; comparable within one query only. */
  score: number;
}

/** What a search tool needs of a documentation index. */
export interface Documentation {
  /** Best first. */
  search(query: string, limit?: number): DocumentationHit[];
}

interface Indexed {
  id: number;
  name: string;
  last: string;
  first: string;
  hint: string;
  parameters: string;
  body: string;
}

const BOOST = { last: 3, name: 2, hint: 2.6, first: 1.6, parameters: 0.7, body: 0.5 };
const BODY_CHARACTERS = 400;
const CANDIDATES = 300;
/** Longer words are no typing errors; looking for those takes memory by the square of the length. */
const LONGEST_TYPO = 48;
/** Share of the score that depends on how much of the query an entry covers. */
const COVERAGE = 0.75;
const USED = 0.5;
const HINTED = 0.25;
const UNUSED = 0.85;
const DEEP = 0.85;
/** The standard library comes before a package that says the same, unless the query names the package. */
const INSTALLED = 0.85;
/** How programs call packages. */
const ALIASES: Record<string, string> = {
  np: 'numpy',
  pd: 'pandas',
  plt: 'matplotlib.pyplot',
  sns: 'seaborn',
  nx: 'networkx',
};

/**
 * Full-text index over documentation entries: BM25 over names, hints, first sentences and bodies, then a ranking that
 * prefers entries that cover the whole query and symbols that are used much.
 */
export class DocumentationIndex implements Documentation {
  private readonly entries: DocumentationEntry[];
  private readonly byCompactName = new Map<string, number[]>();
  private readonly mini: MiniSearch<Indexed>;
  /** Words as they are written -> as they are indexed: what typing errors are compared with. */
  private readonly written = new Map<string, string>();
  private readonly byLetter = new Map<string, string[]>();
  /** How often each word was indexed. */
  private readonly frequency = new Map<string, number>();
  private wordsIndexed = 0;

  private readonly packages: Set<string>;

  constructor(data: DocumentationData) {
    this.entries = data.entries;
    this.packages = new Set(Object.keys(data.packages));
    this.mini = new MiniSearch<Indexed>({
      fields: ['last', 'name', 'hint', 'first', 'parameters', 'body'],
      tokenize: (text, field) => (field === 'name' || field === 'last' ? nameWords(text) : proseWords(text)),
      processTerm: (term) => {
        const word = normalizeWord(term);
        if (word !== null) this.count(word, term.toLowerCase());
        return word;
      },
    });
    this.mini.addAll(this.entries.map((entry, id) => this.toIndexed(entry, id)));
  }

  /** Number of symbols. */
  get size(): number {
    return this.entries.length;
  }

  search(asked: string, limit = 5): DocumentationHit[] {
    const query = asked.replace(/\b(np|pd|plt|sns|nx)\b(?=\.|\s|$)/g, (alias) => ALIASES[alias]!);
    const words = [...new Set(proseWords(query).map((word) => this.corrected(word)))].filter((word) => word !== null);
    const named =
      query
        .toLowerCase()
        .match(/[a-z_]\w*/g)
        ?.some((word) => this.packages.has(word)) ?? false;
    const scores = this.rank(words, named);
    this.addNames(query, scores);
    return [...scores]
      .sort(([a, left], [b, right]) => right - left || a - b)
      .slice(0, limit)
      .map(([id, score]) => {
        const { name, signature, text, hint } = this.entries[id]!;
        return { name, signature, text: text === '' ? hint : text, score: Math.round(score * 1000) / 1000 };
      });
  }

  private toIndexed(entry: DocumentationEntry, id: number): Indexed {
    const first = firstSentence(entry.text);
    const body = entry.text.slice(first.length);
    this.remember(compact(entry.name), id);
    const dot = entry.name.lastIndexOf('.');
    if (dot > 0) this.remember(compact(entry.name.slice(dot + 1)), id);
    return {
      id,
      name: entry.name.slice(0, Math.max(dot, 0)),
      last: entry.name.slice(dot + 1),
      hint: entry.hint,
      first,
      parameters: parameterNames(entry.signature),
      body: body.slice(0, BODY_CHARACTERS),
    };
  }

  private remember(key: string, id: number): void {
    const known = this.byCompactName.get(key);
    if (known === undefined) this.byCompactName.set(key, [id]);
    else known.push(id);
  }

  private rank(words: string[], named: boolean): Map<number, number> {
    const scores = new Map<number, number>();
    if (words.length === 0) return scores;
    const found = this.mini.search(words.join(' '), {
      tokenize: (text) => text.split(' '),
      processTerm: (term) => term,
      boost: BOOST,
      fuzzy: (term) => {
        if (this.frequency.has(term) || term.length < 4 || term.length > LONGEST_TYPO) return false;
        return term.length < 7 ? 1 : 2;
      },
      prefix: (term) => !this.frequency.has(term) && term.length >= 3,
      maxFuzzy: 2,
      bm25: { k: 1.2, b: 0.5, d: 0.3 },
    });
    const rarity = new Map(words.map((word) => [word, this.rarity(word)]));
    const total = words.reduce((sum, word) => sum + rarity.get(word)!, 0);
    for (const result of found.slice(0, CANDIDATES)) {
      const covered = result.queryTerms.reduce((sum, word) => sum + (rarity.get(word) ?? 0), 0) / total;
      scores.set(
        result.id as number,
        result.score * (1 - COVERAGE + COVERAGE * covered) * this.prior(result.id as number, named),
      );
    }
    return scores;
  }

  private count(word: string, written: string): void {
    this.written.set(written, word);
    this.frequency.set(word, (this.frequency.get(word) ?? 0) + 1);
    this.wordsIndexed += 1;
  }

  /** Grows as a word gets rarer; an unknown word (a typo) counts like a rare one. */
  private rarity(word: string): number {
    return Math.log(1 + this.wordsIndexed / (this.frequency.get(word) ?? 100));
  }

  /** Symbols that programs use much come first; deep and unused ones last. */
  private prior(id: number, named: boolean): number {
    const entry = this.entries[id]!;
    const hinted = entry.hint !== '';
    const unused = !hinted && entry.weight === 0;
    const parts = entry.name.split('.');
    const depth = parts.length;
    const installed = !named && this.packages.has(parts[0]!);
    return (
      (installed ? INSTALLED : 1) *
      (1 + USED * entry.weight + (hinted ? HINTED : 0)) *
      (unused ? UNUSED : 1) *
      (depth > 3 && !hinted ? DEEP : 1)
    );
  }

  /** A query that is a name, dotted or in one word, finds that name first. */
  private addNames(query: string, scores: Map<number, number>): void {
    const key = compact(query.trim());
    const exact = this.byCompactName.get(key);
    const unknown = proseWords(query).some((word) => !this.isKnown(word));
    const begun = exact === undefined && /^[\w.]+$/.test(query.trim()) ? this.beginning(key) : [];
    const ids = exact ?? (begun.length === 0 && unknown ? this.misspelt(key) : begun);
    const top = Math.max(1, ...scores.values());
    for (const id of ids) {
      const entry = this.entries[id]!;
      const whole = compact(entry.name) === key ? 1 : 0;
      const bonus = entry.weight + (entry.hint === '' ? 0 : 0.5);
      scores.set(id, (scores.get(id) ?? 0) + top * (1 + whole + bonus));
    }
  }

  /** Written words by their first letter, in which nobody errs. */
  private startingWith(letter: string): string[] {
    if (this.byLetter.size === 0) {
      for (const word of this.written.keys()) {
        const words = this.byLetter.get(word[0]!);
        if (words === undefined) this.byLetter.set(word[0]!, [word]);
        else words.push(word);
      }
    }
    return this.byLetter.get(letter) ?? [];
  }

  /** A word that stands in the index, or is another form of one. */
  private isKnown(word: string): boolean {
    const lower = word.toLowerCase();
    const normal = normalizeWord(word);
    // A stem that nobody wrote (epol of epoll) is a typing error.
    return normal === null || this.written.has(lower) || (this.frequency.has(normal) && normal !== lower);
  }

  /** The indexed form of a word; of one with a typing error, that of the nearest written word where there is one. */
  private corrected(word: string): string | null {
    const normal = normalizeWord(word);
    const lower = word.toLowerCase();
    if (normal === null || this.frequency.has(normal) || lower.length < 5) return normal;
    let best: string | null = null;
    let nearest = lower.length < 8 ? 2 : 3;
    for (const written of this.startingWith(lower[0]!)) {
      if (Math.abs(written.length - lower.length) > nearest) continue;
      const edits = distance(written, lower);
      const indexed = this.written.get(written)!;
      if (edits < nearest || (edits === nearest && best !== null && this.rarity(indexed) < this.rarity(best))) {
        [nearest, best] = [edits, indexed];
      }
    }
    return best ?? normal;
  }

  /** Symbols whose name goes on from the query, where they are few. */
  private beginning(key: string): number[] {
    if (key.length < 5) return [];
    const found: number[] = [];
    for (const [name, ids] of this.byCompactName) {
      if (name.startsWith(key)) found.push(...ids);
      if (found.length > 6) return [];
    }
    return found;
  }

  /** Symbols whose name differs from the query by a slip of the finger or two. */
  private misspelt(key: string): number[] {
    const allowed = key.length < 4 || key.length > LONGEST_TYPO ? 0 : key.length < 8 ? 1 : 2;
    let nearest = allowed + 1;
    let found: number[] = [];
    for (const [name, ids] of this.byCompactName) {
      if (Math.abs(name.length - key.length) > Math.min(allowed, nearest)) continue;
      const edits = distance(name, key);
      if (edits > allowed || edits > nearest) continue;
      found = edits < nearest ? [...ids] : [...found, ...ids];
      nearest = edits;
    }
    return found;
  }
}

/** `asyncio.sleep(delay, result=None)` -> 'delay result'. */
function parameterNames(signature: string): string {
  const inner = /\(([^]*)\)/.exec(signature)?.[1] ?? '';
  return [...inner.matchAll(/(?:^|[,(]\s*)\*{0,2}([a-z_]\w*)/gi)].map(([, name]) => name).join(' ');
}

/** A docstring up to its first full stop or empty line. */
export function firstSentence(text: string): string {
  return /^[^]*?(?:\.(?=\s|$)|(?=\n\s*\n)|$)/.exec(text)?.[0] ?? '';
}
