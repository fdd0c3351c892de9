import { stemmer } from 'stemmer';

const STOP_WORDS = new Set(
  (
    'a an and are as at be been being by can could do does did for from had has have how i if in into is it its me my ' +
    'of on one or our should so some such than that the their them then there these they this those to using use used ' +
    'was we were what when where which while who will with would you your python way via given return returns returned ' +
    'get gets want need like just also any each check checks whether verify determine convert converts converting make'
  ).split(' '),
);

/** Words that mean the same in this field; the left one is what is written, the right one what is indexed. */
const SAME: Record<string, string> = {
  strings: 'str',
  string: 'str',
  text: 'str',
  dictionary: 'dict',
  dictionaries: 'dict',
  dicts: 'dict',
  hashmap: 'dict',
  integer: 'int',
  integers: 'int',
  ints: 'int',
  folder: 'directory',
  folders: 'directory',
  dir: 'directory',
  delete: 'remove',
  erase: 'remove',
  trim: 'strip',
  regex: 'regular',
  regexp: 'regular',
  lowercase: 'lower',
  uppercase: 'upper',
  concatenate: 'join',
  concat: 'join',
  whitespaces: 'whitespace',
  whitespace: 'space',
  spaces: 'space',
  biggest: 'largest',
  maximum: 'largest',
  minimum: 'smallest',
  frequent: 'common',
  frequency: 'common',
  frequencies: 'common',
  occurrences: 'occur',
  occurrence: 'occur',
  duplicate: 'distinct',
  duplicates: 'distinct',
  unique: 'distinct',
  chars: 'character',
  char: 'character',
  letters: 'letter',
  alphabetical: 'alphabet',
  epoch: 'timestamp',
  average: 'mean',
  averages: 'mean',
  exponent: 'power',
  exponentiation: 'power',
  cached: 'cache',
  memoize: 'cache',
  memoization: 'cache',
  arguments: 'argument',
  args: 'argument',
  arg: 'argument',
  parameter: 'argument',
  parameters: 'argument',
  params: 'argument',
  middle: 'center',
  centre: 'center',
  centered: 'center',
  pause: 'sleep',
  immutable: 'frozen',
  chunk: 'batch',
  chunks: 'batch',
  batched: 'batch',
  begins: 'start',
  beginning: 'start',
  begin: 'start',
  starting: 'start',
  ends: 'end',
  ending: 'end',
  element: 'item',
  elements: 'item',
  hexadecimal: 'hex',
  comparison: 'compare',
  comparisons: 'compare',
  increase: 'raise',
  compute: 'calculate',
  modify: 'change',
  hostname: 'host',
  current: 'now',
  today: 'now',
};

/** The form in which a word is indexed and asked for: lower case, one of its synonyms, stemmed; null for a stop word. */
export function normalizeWord(word: string): string | null {
  const lower = word.toLowerCase();
  if (lower.length === 0 || STOP_WORDS.has(lower)) return null;
  const known = SAME[lower];
  if (known !== undefined) return stemmer(known);
  return /^[a-z]+$/.test(lower) ? stemmer(lower) : lower;
}

/** `mostCommon`, `most_common` -> ['most', 'common']. */
export function splitIdentifier(identifier: string): string[] {
  return identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_.]+/)
    .filter((part) => part.length > 0);
}

/** Words of prose, identifiers split, and kept whole where they are dotted or snake case. */
export function proseWords(text: string): string[] {
  const found: string[] = [];
  for (const word of text.match(/[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*|\p{N}+/gu) ?? []) {
    const parts = splitIdentifier(word);
    found.push(...parts);
    if (parts.length > 1) found.push(compact(word));
  }
  return found;
}

/** `os.path.join` -> every word, and the ends of the name written in one: join, pathjoin, ospathjoin. */
export function nameWords(name: string): string[] {
  const parts = name.split('.');
  const found = parts.flatMap(splitIdentifier);
  // isdigit, issubset: people ask for digits and subsets.
  const tested = /^is([a-z]{4,})$/.exec(parts.at(-1) ?? '')?.[1];
  if (tested !== undefined) found.push(tested);
  for (let start = 0; start < parts.length; start++) found.push(compact(parts.slice(start).join('.')));
  return found;
}

/** A name without dots, underscores and capitals: what people type in one word. */
export function compact(name: string): string {
  return name.toLowerCase().replace(/[._\s]/g, '');
}
