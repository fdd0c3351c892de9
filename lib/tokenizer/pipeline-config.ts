import { GrpoError } from '../errors.js';

type Json = Record<string, unknown>;

/**
 * What a text is. raw: as given to encode(), with all that the tokenizer does to a text. start, middle: a part of a chat,
 * which must decode to itself; only at the start of the chat may a tokenizer put a space before it.
 */
export type Stage = 'raw' | 'start' | 'middle';

/** GPT-2's word pattern, as the ByteLevel pre-tokenizer has it built in. */
const BYTE_LEVEL_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** One character (or one `<0xNN>` byte): dropping it would lose text, and it can delimit nothing. */
export function isSingleUnit(token: string): boolean {
  return [...token].length === 1 || /^<0x[0-9A-F]{2}>$/.test(token);
}

function isolated(pattern: string): Json {
  return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
}

function sequence(steps: (Json | null)[]): Json {
  return { type: 'Sequence', pretokenizers: steps.filter((step) => step !== null) };
}

/** The normalizer's config for a stage, null for none. */
export function normalizerConfig(config: Json | null | undefined, stage: Stage): Json | null {
  if (config === null || config === undefined) return null;
  if (config.type === 'Sequence') {
    const steps = (config.normalizers as Json[]).map((step) => normalizerConfig(step, stage));
    return { ...config, normalizers: steps.filter((step) => step !== null) };
  }
  // Composed and decomposed characters are both spelled in bytes, so a chat can keep what its messages say.
  if (config.type === 'NFC' && stage !== 'raw') return null;
  return config.type === 'Prepend' && stage === 'middle' ? null : config;
}

function flatten(config: Json | null): Json[] {
  if (config === null) return [];
  return config.type === 'Sequence' ? (config.pretokenizers as Json[]).flatMap(flatten) : [config];
}

/** The pre-tokenizer's steps for a stage, and whether words are to be spelled in the byte alphabet after them. */
export function preTokenizerSteps(
  config: Json | null | undefined,
  stage: Stage,
): { steps: Json[]; byteLevel: boolean } {
  const steps = flatten(preTokenizerConfig(config, stage));
  const last = steps.at(-1);
  const byteLevel = last?.type === 'ByteLevel' && last.use_regex === false && last.add_prefix_space === false;
  return { steps: byteLevel ? steps.slice(0, -1) : steps, byteLevel };
}

/**
 * The pre-tokenizer's config for a stage, null for none. Steps whose JavaScript version knows ASCII digits or JavaScript's
 * white space only are written as the Split that the Rust version is.
 */
function preTokenizerConfig(config: Json | null | undefined, stage: Stage): Json | null {
  if (config === null || config === undefined) return null;
  switch (config.type) {
    case 'Sequence':
      return sequence((config.pretokenizers as Json[]).map((step) => preTokenizerConfig(step, stage)));
    case 'Digits':
      return isolated(config.individual_digits === true ? '\\p{N}' : '\\p{N}+');
    case 'ByteLevel': {
      const prefix = config.add_prefix_space === true && stage !== 'middle';
      const useRegex = config.use_regex !== false;
      if (prefix || !useRegex) return { ...config, add_prefix_space: prefix };
      return sequence([isolated(BYTE_LEVEL_PATTERN), { ...config, add_prefix_space: false, use_regex: false }]);
    }
    case 'Metaspace':
      return stage === 'middle' ? { ...config, prepend_scheme: 'never' } : metaspace(config);
    case 'Split':
      return split(config);
    default:
      return config;
  }
}

function metaspace(config: Json): Json {
  // Files of older versions say add_prefix_space where newer ones say prepend_scheme.
  if (config.prepend_scheme === undefined && config.add_prefix_space === false)
    return { ...config, prepend_scheme: 'never' };
  return config;
}

function split(config: Json): Json {
  const behavior = String(config.behavior).toLowerCase();
  const supported =
    config.invert === true ? behavior === 'removed' || behavior === 'isolated' : behavior !== 'contiguous';
  if (!supported || behavior.startsWith('merged')) {
    const message = `tokenizer.json splits text with behavior ${String(config.behavior)}, which is not supported (Isolated and Removed are)`;
    throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', message);
  }
  // An inverted pattern isolates as well as the pattern itself: both keep the matches and what lies between them.
  return config.invert === true && behavior === 'isolated' ? { ...config, invert: false } : config;
}
