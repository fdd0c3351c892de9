// Time and rank quality of the documentation search.
// usage: npx tsx bench/documentation.ts [INTERPRETER WITH AN INDEX OF numpy AND pandas]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureSearch } from '../lib/bench/documentation-speed.js';
import { loadDocumentation, shippedIndexPath } from '../lib/tools/documentation/entries.js';
import { openDocumentation } from '../lib/tools/documentation/open.js';
import { DocumentationIndex } from '../lib/tools/documentation/search.js';

interface Query {
  query: string;
  accept: string[];
}

const fixtures = join(import.meta.dirname, '../test/fixtures/documentation');
const read = (name: string): Query[] =>
  readFileSync(join(fixtures, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Query);

/** Median milliseconds of a query, and the share with a right symbol among the first three. */
function measure(label: string, index: DocumentationIndex, queries: Query[]): void {
  const searchMs = measureSearch(
    index,
    queries.map(({ query }) => query),
  );
  const missed = queries.filter(
    ({ query, accept }) => !index.search(query, 3).some(({ name }) => accept.includes(name)),
  );
  const share = 1 - missed.length / queries.length;
  console.log(
    `${label}: ${(100 * share).toFixed(0)}% of ${queries.length} in the top 3, median ${searchMs.toFixed(2)} ms`,
  );
  if (process.env.SHOW_MISSES) {
    for (const { query } of missed) {
      console.log(
        `  ${query} -> ${index
          .search(query, 3)
          .map(({ name }) => name)
          .join(', ')}`,
      );
    }
  }
}

async function main(): Promise<void> {
  const started = performance.now();
  const shipped = new DocumentationIndex(await loadDocumentation(shippedIndexPath()));
  console.log(`shipped index: ${shipped.size} symbols, opened in ${(performance.now() - started).toFixed(0)} ms`);
  const own = read('queries.jsonl');
  measure(
    'own queries, even lines (tuned on)',
    shipped,
    own.filter((_, index) => index % 2 === 0),
  );
  measure(
    'own queries, odd lines',
    shipped,
    own.filter((_, index) => index % 2 === 1),
  );
  measure('held-back queries in words', shipped, read('held-back.jsonl'));
  measure('fresh names and tasks, ranking changed after', shipped, read('fresh.jsonl'));
  measure('fresh names and tasks, asked afterwards', shipped, read('fresh-after.jsonl'));
  const [python] = process.argv.slice(2);
  if (python === undefined) return;
  const opened = performance.now();
  const packages = await openDocumentation(python);
  console.log(`index of ${python}: ${packages.size} symbols, opened in ${(performance.now() - opened).toFixed(0)} ms`);
  measure('queries for packages', packages, read('packages.jsonl'));
  measure('held-back queries in words, packages beside', packages, read('held-back.jsonl'));
}

await main();
