import { isMarked, mark, Origin, remark, sliceMarked, unmark, type MarkedText } from './marks.js';

/** Positional arguments of a call, as text (undefined = None), and numbers. */
export interface MethodArguments {
  strings: (string | undefined)[];
  count: number | undefined;
}

/** White space by Python's str.isspace: not JavaScript's. */
const SPACE = /[\t-\r\x1c-\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

function strip(value: MarkedText, characters: string | undefined, left: boolean, right: boolean): MarkedText {
  const set = characters === undefined ? undefined : new Set(characters);
  const cut = (unit: string): boolean => (set === undefined ? SPACE.test(unit) : set.has(unit));
  let start = 0;
  let end = value.text.length;
  while (left && start < end && cut(value.text[start] as string)) start++;
  while (right && end > start && cut(value.text[end - 1] as string)) end--;
  return sliceMarked(value, start, end);
}

function splitWhite(value: MarkedText, limit: number): MarkedText[] {
  const parts: MarkedText[] = [];
  let rest = strip(value, undefined, true, false);
  while (rest.text !== '') {
    const at = rest.text.search(SPACE);
    if (at < 0 || parts.length >= limit) {
      parts.push(rest);
      break;
    }
    parts.push(sliceMarked(rest, 0, at));
    rest = strip(sliceMarked(rest, at, rest.text.length), undefined, true, false);
  }
  return parts;
}

/** Python's str.split(separator, maxsplit). */
export function split(marked: string, { strings, count }: MethodArguments): string[] {
  const value = unmark(marked);
  const separator = strings[0] === undefined ? undefined : unmark(strings[0]).text;
  const limit = count === undefined || count < 0 ? Infinity : count;
  if (separator === undefined) return splitWhite(value, limit).map(remark);
  if (separator === '') throw new Error('empty separator');
  const parts: MarkedText[] = [];
  let from = 0;
  for (
    let at = value.text.indexOf(separator);
    at >= 0 && parts.length < limit;
    at = value.text.indexOf(separator, from)
  ) {
    parts.push(sliceMarked(value, from, at));
    from = at + separator.length;
  }
  parts.push(sliceMarked(value, from, value.text.length));
  return parts.map(remark);
}

function replace(marked: string, { strings, count }: MethodArguments): string {
  const [from, to] = strings;
  if (from === undefined || to === undefined) throw new Error('replace() needs two strings');
  if (from === '') throw new Error('replace() of the empty string is not supported');
  const limit = count === undefined || count < 0 ? -1 : count;
  return split(marked, { strings: [from], count: limit }).join(to);
}

function title(text: string): string {
  return text.replace(/\p{L}+/gu, (word) => {
    const [first = ''] = word;
    return first.toUpperCase() + word.slice(first.length).toLowerCase();
  });
}

/** Applies a function of plain text; where its input was marked, the whole result is. */
export function onPlain(marked: string, change: (text: string) => string): string {
  if (!isMarked(marked)) return change(marked);
  const { text, origins } = unmark(marked);
  const origin = origins.find((value) => value !== Origin.template) as Origin;
  return mark(change(text), origin);
}

type Method = (text: string, args: MethodArguments) => string | string[] | boolean;

function stripper(left: boolean, right: boolean): Method {
  return (text, { strings }) => {
    const characters = strings[0] === undefined ? undefined : unmark(strings[0]).text;
    return remark(strip(unmark(text), characters, left, right));
  };
}

function affix(test: (text: string, part: string) => boolean): Method {
  return (text, { strings }) =>
    strings.some((part) => part !== undefined && test(unmark(text).text, unmark(part).text));
}

/** Python's string methods on marked text. */
export const STRING_METHODS: Readonly<Record<string, Method>> = {
  strip: stripper(true, true),
  lstrip: stripper(true, false),
  rstrip: stripper(false, true),
  split,
  replace,
  startswith: affix((text, part) => text.startsWith(part)),
  endswith: affix((text, part) => text.endsWith(part)),
  upper: (text) => onPlain(text, (plain) => plain.toUpperCase()),
  lower: (text) => onPlain(text, (plain) => plain.toLowerCase()),
  title: (text) => onPlain(text, title),
  capitalize: (text) => onPlain(text, (plain) => plain.charAt(0).toUpperCase() + plain.slice(1).toLowerCase()),
};
