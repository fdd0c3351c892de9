import type { AddedTokenEntry } from './files.js';

/** A run of text, or an added token found in it. */
export type TextPart = { text: string; start: number } | { id: number };

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}

/** The added vocabulary: finds its tokens in text. */
export class AddedTokens {
  readonly entries: readonly AddedTokenEntry[];
  private readonly byContent = new Map<string, AddedTokenEntry>();
  private readonly pattern: RegExp | undefined;

  constructor(entries: AddedTokenEntry[]) {
    this.entries = entries;
    for (const entry of entries) this.byContent.set(entry.content, entry);
    const contents = [...this.byContent.keys()].sort((a, b) => b.length - a.length);
    const escaped = contents.map((content) => content.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    this.pattern = escaped.length > 0 ? new RegExp(escaped.join('|'), 'g') : undefined;
  }

  /** Id of the added token with exactly this content. */
  idOf(content: string | undefined): number | undefined {
    return content === undefined ? undefined : this.byContent.get(content)?.id;
  }

  /** Whether an added token is written anywhere in the text. */
  occursIn(text: string): boolean {
    return this.pattern !== undefined && text.search(this.pattern) >= 0;
  }

  /**
   * Splits text at the added tokens in it, leftmost and longest first.
   *
   * @param accept whether a token found at [start, end) may be one; a refused one stays text
   */
  split(text: string, accept: (entry: AddedTokenEntry, start: number, end: number) => boolean): TextPart[] {
    const parts: TextPart[] = [];
    let from = 0;
    if (this.pattern !== undefined) {
      // One of its own: `accept` may come back here.
      const pattern = new RegExp(this.pattern);
      for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        const start = match.index;
        const end = start + match[0].length;
        const entry = this.byContent.get(match[0]) as AddedTokenEntry;
        const alone = !entry.singleWord || (!isWord(text[start - 1]) && !isWord(text[end]));
        if (!alone || !accept(entry, start, end)) {
          pattern.lastIndex = start + 1;
          continue;
        }
        if (start > from) parts.push({ text: text.slice(from, start), start: from });
        parts.push({ id: entry.id });
        from = end;
      }
    }
    if (from < text.length) parts.push({ text: text.slice(from), start: from });
    return parts;
  }
}
