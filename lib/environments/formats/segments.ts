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
 * alone, and what stands in a fence is code.
 *
 * @param startsInThinking the chat template itself opened `<think>`, so the text begins inside it
 */
export function* segments(text: string, startsInThinking = false): Generator<Segment> {
  let position = 0;
  if (startsInThinking) {
    const thought = thoughtFrom(text, 0);
    yield thought.segment;
    position = thought.end;
  }
  while (position < text.length) {
    const think = text.indexOf(THINK_OPEN, position);
    const search = nextSearch(text, position);
    const fence = nextFence(text, position);
    const first = Math.min(
      ...[think, search?.start, fence?.start].filter((at) => at !== undefined && at >= 0).map(Number),
    );
    if (first === Infinity) return;
    if (first === think) {
      const thought = thoughtFrom(text, think + THINK_OPEN.length);
      yield thought.segment;
      position = thought.end;
    } else if (search !== undefined && first === search.start) {
      if (search.end === undefined) {
        yield { kind: 'search', query: search.query, complete: false };
        position = search.start + SEARCH_OPEN.length;
      } else {
        yield { kind: 'search', query: search.query, complete: true };
        position = search.end;
      }
    } else if (fence !== undefined) {
      yield {
        kind: 'fence',
        ticks: fence.ticks,
        info: fence.info,
        code: fence.code,
        complete: fence.end !== undefined,
      };
      position = fence.end ?? text.length;
    }
  }
}

function thoughtFrom(text: string, start: number): { segment: Segment; end: number } {
  const close = text.indexOf(THINK_CLOSE, start);
  const inner = text.slice(start, close < 0 ? text.length : close);
  return {
    segment: { kind: 'thought', text: inner, complete: close >= 0 },
    end: close < 0 ? text.length : close + THINK_CLOSE.length,
  };
}

/** An opening tag with its query; a tag that a fence or another tag interrupts stays open. */
function nextSearch(text: string, from: number): { start: number; query: string; end?: number } | undefined {
  const start = text.indexOf(SEARCH_OPEN, from);
  if (start < 0) return undefined;
  const inner = start + SEARCH_OPEN.length;
  const close = text.indexOf(SEARCH_CLOSE, inner);
  const again = text.indexOf(SEARCH_OPEN, inner);
  if (close < 0 || (again >= 0 && again < close)) return { start, query: '' };
  const query = text.slice(inner, close);
  if (/\n```/.test(query)) return { start, query: '' };
  return { start, query: query.trim(), end: close + SEARCH_CLOSE.length };
}

function nextFence(
  text: string,
  from: number,
): { start: number; ticks: number; info: string; code: string; end?: number } | undefined {
  FENCE_OPENER.lastIndex = from;
  const opener = FENCE_OPENER.exec(text);
  if (opener === null) return undefined;
  const ticks = opener[1]!.length;
  const info = opener[2]!.trim();
  const lineEnd = text.indexOf('\n', opener.index);
  if (lineEnd < 0) return { start: opener.index, ticks, info, code: '' };
  const closer = new RegExp(`(?<=\\n)\`{${ticks}}[ \\t]*(?=\\r?\\n|$)`, 'g');
  closer.lastIndex = lineEnd + 1;
  const closed = closer.exec(text);
  const code = text.slice(lineEnd + 1, closed?.index ?? text.length).replace(/\r\n/g, '\n');
  const found = { start: opener.index, ticks, info, code: code.replace(/\n$/, '') };
  return closed === null ? found : { ...found, end: closed.index + closed[0].length };
}
