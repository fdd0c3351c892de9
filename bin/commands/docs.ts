import type { Argv } from 'yargs';
import { buildDocumentation, openDocumentation } from '../../lib/tools/documentation/open.js';
import { firstSentence } from '../../lib/tools/documentation/search.js';
import { UsageError } from '../usage-error.js';
import { wholeNumber } from '../whole-number.js';

export const command = 'docs';
export const describe = 'search the Python documentation, or index the one of an interpreter';

const python = {
  type: 'string',
  default: 'python3',
  describe: 'interpreter whose index is used; the shipped one where it has none',
} as const;

export function builder(yargs: Argv): Argv {
  return yargs
    .command(
      'search <query..>',
      'show what the search tool of the agent finds',
      (inner) =>
        inner
          .positional('query', {
            type: 'string',
            array: true,
            demandOption: true,
            describe: 'a name, or a task in words',
          })
          .option('limit', wholeNumber('limit', 1, 'answers at most; 5 by default'))
          .option('json', { type: 'boolean', default: false, describe: 'an array of { name, signature, text, score }' })
          .option('python', python),
      async (args) => search(args.query.join(' '), args),
    )
    .command(
      'index',
      'read the docstrings of an interpreter and its installed packages into the cache',
      (inner) =>
        inner
          .option('python', python)
          .option('packages', { type: 'string', describe: 'read these packages only, e.g. numpy,pandas' })
          .option('json', { type: 'boolean', default: false, describe: 'print JSON' }),
      async (args) => index(args),
    )
    .demandCommand(1, 'say docs search or docs index');
}

/** yargs calls this only where no sub-command was named; `demandCommand` has answered then. */
export function handler(): void {}

async function search(
  query: string,
  args: { limit: number | undefined; json: boolean; python: string },
): Promise<void> {
  const documentation = await openDocumentation(args.python);
  const hits = documentation.search(query, args.limit ?? 5);
  if (args.json) {
    process.stdout.write(`${JSON.stringify(hits, null, 2)}\n`);
    return;
  }
  if (hits.length === 0) process.stdout.write(`nothing was found for: ${query}\n`);
  for (const { name, signature, text } of hits) {
    const head = signature === '' ? `module ${name}` : signature;
    process.stdout.write(`${name}\n  ${head}\n  ${firstSentence(text)}\n`);
  }
}

async function index(args: { python: string; packages: string | undefined; json: boolean }): Promise<void> {
  const packages = args.packages?.split(',').map((name) => name.trim());
  if (packages?.includes(''))
    throw new UsageError('--packages must be names with commas between, such as numpy,pandas');
  const made = await buildDocumentation(args.python, packages);
  if (args.json) {
    process.stdout.write(`${JSON.stringify(made, null, 2)}\n`);
    return;
  }
  const read = Object.entries(made.packages).map(([name, version]) => `${name} ${version}`);
  process.stdout.write(
    `Python ${made.python}: ${made.entries} symbols of ${made.modules} modules, ${(made.bytes / 1e6).toFixed(1)} MB\n` +
      `packages: ${read.join(', ') || 'none'}\n${made.file}\n`,
  );
}
