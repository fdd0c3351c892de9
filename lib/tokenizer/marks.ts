/**
 * Marked text: every UTF-16 unit of a string that came from a message is moved to a supplementary plane of its own, one
 * plane a kind, before a template sees it. Whatever the template does with it (trim, split, drop, repeat), the rendered
 * text still says unit by unit what came from the template and what from a message.
 */

/** Where a unit of rendered text came from. */
export const Origin = {
  /** The template's own text. */
  template: 0,
  /** A system, user or tool content. */
  content: 1,
  /** An assistant content. */
  assistant: 2,
  /** Any other value: tool schemas, arguments and names of calls, variables. */
  value: 3,
} as const;
export type Origin = (typeof Origin)[keyof typeof Origin];

/** Text and the origin of each of its UTF-16 units. */
export interface MarkedText {
  text: string;
  origins: Uint8Array;
}

// High surrogates of planes 13 (unassigned), 15 and 16 (private use); 64 each.
const FIRST_SURROGATE: Record<number, number> = {
  [Origin.value]: 0xdb00,
  [Origin.assistant]: 0xdb80,
  [Origin.content]: 0xdbc0,
};

function originOf(high: number): Origin {
  if (high >= 0xdbc0 && high <= 0xdbff) return Origin.content;
  if (high >= 0xdb80 && high < 0xdbc0) return Origin.assistant;
  if (high >= 0xdb00 && high < 0xdb40) return Origin.value;
  return Origin.template;
}

function fromUnits(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le');
}

/** Marks a whole string. */
export function mark(text: string, origin: Origin): string {
  if (origin === Origin.template) return text;
  const first = FIRST_SURROGATE[origin] as number;
  const units = new Uint16Array(2 * text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    units[2 * i] = first + (unit >> 10);
    units[2 * i + 1] = 0xdc00 + (unit & 0x3ff);
  }
  return fromUnits(units);
}

/** Whether text holds a marked unit. */
export function isMarked(text: string): boolean {
  return /[\u{d0000}-\u{dffff}\u{f0000}-\u{10ffff}]/u.test(text);
}

/** The text without its marks, and what they said. */
export function unmark(marked: string): MarkedText {
  const units = new Uint16Array(marked.length);
  const origins = new Uint8Array(marked.length);
  let length = 0;
  for (let i = 0; i < marked.length; i++) {
    const high = marked.charCodeAt(i);
    const origin = originOf(high);
    if (origin === Origin.template) units[length] = high;
    else {
      units[length] = ((high - (FIRST_SURROGATE[origin] as number)) << 10) | (marked.charCodeAt(++i) & 0x3ff);
    }
    origins[length++] = origin;
  }
  return { text: fromUnits(units.subarray(0, length)), origins: origins.subarray(0, length) };
}

/** The inverse of {@link unmark}. */
export function remark({ text, origins }: MarkedText): string {
  let out = '';
  for (let i = 0; i < text.length;) {
    let end = i + 1;
    while (end < text.length && origins[end] === origins[i]) end++;
    out += mark(text.slice(i, end), origins[i] as Origin);
    i = end;
  }
  return out;
}

/** A part of marked text. */
export function sliceMarked(value: MarkedText, start: number, end: number): MarkedText {
  return { text: value.text.slice(start, end), origins: value.origins.subarray(start, end) };
}
