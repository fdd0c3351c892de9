import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../../bin/command-line.js';
import {
  evaluateSchema,
  generateSchema,
  orDemo,
  readFlags,
  resolveBenchConfig,
  resolveEvaluateConfig,
  resolveGenerateConfig,
  resolveSftConfig,
  resolveTrainConfig,
  sftSchema,
  trainSchema,
} from '../../lib/config/index.js';
import { benchSchema } from '../../lib/config/bench-schema.js';
import { readPage, ROOT } from './pages.js';
import { COMMANDS, NAMED_COMMANDS, OTHER_COMMANDS, OWN_COMMANDS, type ShellCommand } from './shell.js';

type Arguments = Record<string, unknown>;

class Parsed extends Error {
  constructor(readonly args: Arguments) {
    super('parsed');
  }
}

/** What the command line makes of the words; the command itself does not run. */
async function parse(words: string[]): Promise<Arguments> {
  const parser = commandLine(words).middleware((args) => {
    throw new Parsed(args);
  }, false);
  try {
    await parser.parseAsync();
  } catch (error) {
    if (error instanceof Parsed) return error.args;
    throw error;
  }
  throw new Error(`${words.join(' ')} names no command`);
}

/** The whole configuration that a command's options give, checked as the command does. */
const CHECKS: Record<string, (args: Arguments) => unknown> = {
  train: (args) => args['resume'] ?? resolveTrainConfig(orDemo(readFlags(trainSchema, args))),
  eval: (args) => resolveEvaluateConfig(readFlags(evaluateSchema, args)),
  generate: (args) => resolveGenerateConfig(readFlags(generateSchema, args)),
  sft: (args) => args['resume'] ?? resolveSftConfig(readFlags(sftSchema, args)),
  bench: (args) => resolveBenchConfig(readFlags(benchSchema, args)),
};

const told = ({ page, line, words }: ShellCommand, error: unknown) =>
  `${page}:${line}: grpo-native ${words.join(' ')}: ${error instanceof Error ? error.message : String(error)}`;

test('every command of this package that a page shows or names is taken by its command line and its options', async () => {
  const refused: string[] = [];
  for (const command of NAMED_COMMANDS) {
    try {
      const args = await parse(command.words);
      CHECKS[command.words[0]!]?.(args);
    } catch (error) {
      refused.push(told(command, error));
    }
  }
  assert.equal(refused, []);
  assert.ok(OWN_COMMANDS.length > 25, `${OWN_COMMANDS.length} in blocks`);
  assert.ok(NAMED_COMMANDS.length > OWN_COMMANDS.length);
});

test('a command that is wrong would be noticed', async () => {
  for (const words of [['train', '--stepps', '3'], ['report'], ['docs', 'find', 'x'], ['tasks', 'check']]) {
    const error = await parse(words).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.instance(error, Error, words.join(' '));
  }
  const { train } = CHECKS;
  const args = await parse(['train', '--group-size', '1', '--model', 'MODEL', '--tasks', 'FILE']);
  assert.throws(() => train!(args), /groupSize must be/);
});

const scripts = Object.keys((JSON.parse(readPage('package.json')) as { scripts: object }).scripts);
const isFile = (path: string | undefined) => path !== undefined && existsSync(join(ROOT, path));

/** Commands of others: what of them belongs to this package must be there. */
const OTHERS: [RegExp, (words: string[]) => boolean][] = [
  [/^npm (ci|install .*)$/, () => true],
  [/^npm test( \w+)?$/, ([, , part]) => part === undefined || isFile(`test/${part}`)],
  [/^npm run /, ([, , script]) => scripts.includes(script!)],
  [/^(bash|node|npx tsx) /, (words) => isFile(words.find((word) => /[./]/.test(word)))],
  [/^npx cmake-js /, () => isFile('CMakeLists.txt')],
  [/^python3\S* /, (words) => words.filter((word) => word.startsWith('lib/')).every(isFile)],
  [/^apt-get (update|install -y) ?/, () => true],
];

test('of every other command the scripts and files are there', () => {
  const wrong = OTHER_COMMANDS.filter(({ words }) => {
    const rule = OTHERS.find(([pattern]) => pattern.test(words.join(' ')));
    return rule === undefined || !rule[1](words);
  });
  assert.equal(
    wrong.map((command) => told(command, 'no rule of this test takes it')),
    [],
  );
  assert.ok(COMMANDS.length > OWN_COMMANDS.length);
});

test.run();
