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
  body: string;
}

const BOOST = { last: 3, name: 2, hint: 2.6, first: 1.6, body: 0.5 };
const BODY_CHARACTERS = 400;
const CANDIDATES = 300;
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
  /** How often each word was indexed. */
  private readonly frequency = new Map<string, number>();
  private wordsIndexed = 0;

  private readonly packages: Set<string>;

  constructor(data: DocumentationData) {
    this.entries = data.entries;
    this.packages = new Set(Object.keys(data.packages));
    this.mini = new MiniSearch<Indexed>({
      fields: ['last', 'name', 'hint', 'first', 'body'],
      tokenize: (text, field) => (field === 'name' || field === 'last' ? nameWords(text) : proseWords(text)),
      processTerm: (term) => {
        const word = normalizeWord(term);
        if (word !== null) this.count(word);
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
    const words = [...new Set(proseWords(query).map(normalizeWord))].filter((word) => word !== null);
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
      fuzzy: (term) => (this.frequency.has(term) || term.length < 4 ? false : term.length < 7 ? 1 : 2),
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

  private count(word: string): void {
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
    const ids = exact ?? (unknown ? this.misspelt(key) : []);
    const top = Math.max(1, ...scores.values());
    for (const id of ids) {
      const entry = this.entries[id]!;
      const whole = compact(entry.name) === key ? 1 : 0;
      const bonus = entry.weight + (entry.hint === '' ? 0 : 0.5);
      scores.set(id, (scores.get(id) ?? 0) + top * (1 + whole + bonus));
    }
  }

  private isKnown(word: string): boolean {
    const normal = normalizeWord(word);
    return normal === null || this.frequency.has(normal);
  }

  /** Symbols whose name differs from the query by a slip of the finger or two. */
  private misspelt(key: string): number[] {
    const allowed = key.length < 4 || key.length > 48 ? 0 : key.length < 8 ? 1 : 2;
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

/** A docstring up to its first full stop or empty line. */
export function firstSentence(text: string): string {
  return /^[^]*?(?:\.(?=\s|$)|(?=\n\s*\n)|$)/.exec(text)?.[0] ?? '';
}
