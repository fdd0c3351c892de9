import { median } from './measure.js';

interface Searched {
  search: (query: string, limit: number) => unknown;
}

const ROUNDS = 5;
const ANSWERS = 3;

/** Queries as an agent asks them: names, and tasks in words. */
export const QUERIES: readonly string[] = [
  'os.path.join',
  'str.split',
  'itertools permutations',
  'sort a list of dictionaries by a key',
  'count how often words occur',
  'regular expression find all matches',
  'round a decimal to two places',
  'parse a date string',
  'read a csv file row by row',
  'greatest common divisor',
  'heap push pop smallest',
  'binary search in a sorted list',
];

/** Milliseconds of the query in the middle. */
export function measureSearch(index: Searched, queries: readonly string[] = QUERIES): number {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const query of queries) {
      const started = performance.now();
      index.search(query, ANSWERS);
      // The first round warms up.
      if (round > 0) times.push(performance.now() - started);
    }
  }
  return median(times, (ms) => ms);
}
