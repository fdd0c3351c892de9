/** A search tag, a fence or a piece of thinking in the text of one turn. */
export type Segment =
  | { kind: 'thought'; text: string; complete: boolean }
  | { kind: 'search'; query: string; complete: boolean }
  | { kind: 'fence'; ticks: number; info: string; code: string; complete: boolean };

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';
const SEARCH_OPEN = '<search>';
const SEARCH_CLOSE = '</search>';
const FENCE_OPENER = /(?<=^|\n)(`{3,})[ \t]*([^`\r\n]*)(?=\r?\n|$)/g;

/**
 * Search tags, fences and thoughts of a turn in the order in which they are completed. What stands in thinking is its text
 * alone, and what stands in a fence is code. Takes time in proportion to the text.
 *
 * @param startsInThinking the chat template itself opened `<think>`, so the text begins inside it
 */
export function* segments(text: string, startsInThinking = false): Generator<Segment> {
  const scan = new Scan(text);
  let position = 0;
  if (startsInThinking) {
    const thought = thoughtFrom(text, 0);
    yield thought.segment;
    position = thought.end;
  }
  while (position < text.length) {
    const think = scan.next(THINK_OPEN, position);
    const search = scan.next(SEARCH_OPEN, position);
    const fence = scan.nextFence(position);
    const first = Math.min(think, search, fence);
    if (first === Infinity) return;
    const { segment, end } =
      first === think
        ? thoughtFrom(text, think + THINK_OPEN.length)
        : first === search
          ? searchFrom(text, search, scan)
          : fenceFrom(text, fence);
    yield segment;
    position = end;
  }
}

/** Where marks come next. Positions only grow, so that each part of the text is looked through once for each mark. */
class Scan {
  private readonly found = new Map<string, number>();

  constructor(private readonly text: string) {}

  /** The first place of the mark at or after a position, Infinity where there is none. */
  next(mark: string, from: number): number {
    return this.remember(mark, from, () => this.text.indexOf(mark, from));
  }

  /** The first opening line of a fence. */
  nextFence(from: number): number {
    return this.remember('fence', from, () => {
      FENCE_OPENER.lastIndex = from;
      return FENCE_OPENER.exec(this.text)?.index ?? -1;
    });
  }

  private remember(mark: string, from: number, look: () => number): number {
    const known = this.found.get(mark);
    if (known !== undefined && known >= from) return known;
    const at = look();
    const place = at < 0 ? Infinity : at;
    this.found.set(mark, place);
    return place;
  }
}

interface Found {
  segment: Segment;
  /** Where to go on. */
  end: number;
}

function thoughtFrom(text: string, start: number): Found {
  const close = text.indexOf(THINK_CLOSE, start);
  const inner = text.slice(start, close < 0 ? text.length : close);
  return {
    segment: { kind: 'thought', text: inner, complete: close >= 0 },
    end: close < 0 ? text.length : close + THINK_CLOSE.length,
  };
}

/** An opening tag with its query; a tag that a fence or another tag interrupts stays open. */
function searchFrom(text: string, start: number, scan: Scan): Found {
  const inner = start + SEARCH_OPEN.length;
  const close = scan.next(SEARCH_CLOSE, inner);
  const open: Found = { segment: { kind: 'search', query: '', complete: false }, end: inner };
  if (close === Infinity || scan.next(SEARCH_OPEN, inner) < close) return open;
  const query = text.slice(inner, close);
  if (query.includes('\n```')) return open;
  return { segment: { kind: 'search', query: query.trim(), complete: true }, end: close + SEARCH_CLOSE.length };
}

function fenceFrom(text: string, start: number): Found {
  FENCE_OPENER.lastIndex = start;
  const opener = FENCE_OPENER.exec(text)!;
  const ticks = opener[1]!.length;
  const info = opener[2]!.trim();
  const lineEnd = text.indexOf('\n', start);
  if (lineEnd < 0) return { segment: { kind: 'fence', ticks, info, code: '', complete: false }, end: text.length };
  const closer = new RegExp(`(?<=\\n)\`{${ticks}}[ \\t]*(?=\\r?\\n|$)`, 'g');
  closer.lastIndex = lineEnd + 1;
  const closed = closer.exec(text);
  const code = text
    .slice(lineEnd + 1, closed?.index ?? text.length)
    .replace(/\r\n/g, '\n')
    .replace(/\n$/, '');
  return {
    segment: { kind: 'fence', ticks, info, code, complete: closed !== null },
    end: closed === null ? text.length : closed.index + closed[0].length,
  };
}
