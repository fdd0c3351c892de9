import { randomNumbers, shuffled } from '../../algorithms/index.js';

const CONSONANTS = [...'bdfgklmnprstvz'];
const VOWELS = [...'aiou'];

/** Consonant and vowel: what invented names are made of. */
export const SYLLABLES: readonly string[] = CONSONANTS.flatMap((consonant) => VOWELS.map((vowel) => consonant + vowel));

/** English or Python words that two syllables happen to spell. */
const REAL_WORDS = new Set([
  'data',
  'sofa',
  'tuna',
  'sago',
  'soda',
  'toga',
  'vita',
  'nori',
  'solo',
  'kilo',
  'mono',
  'toto',
]);

/**
 * Names of two syllables (`kimo`, `vatu`), each given out once: what one task calls its module, its function and its notion
 * no other task of the same drawing uses.
 *
 * @throws RangeError after about three thousand names
 */
export function nameSource(seed: number): () => string {
  const all = SYLLABLES.flatMap((first) => SYLLABLES.map((second) => first + second));
  const names = shuffled(
    all.filter((name) => !REAL_WORDS.has(name)),
    seed,
  );
  let given = 0;
  return () => {
    const name = names[given++];
    if (name === undefined) throw new RangeError(`there are only ${names.length} names`);
    return name;
  };
}

/** Draws from lists and ranges. */
export interface Draw {
  /** An integer of least..most. */
  integer: (least: number, most: number) => number;
  one: <T>(values: readonly T[]) => T;
  /** True with this probability. */
  chance: (probability: number) => boolean;
}

/** Draws that depend on the seed only. */
export function drawing(seed: number): Draw {
  const random = randomNumbers(seed);
  const integer = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  return {
    integer,
    one: <T>(values: readonly T[]) => values[integer(0, values.length - 1)] as T,
    chance: (probability) => random() < probability,
  };
}
