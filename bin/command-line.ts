import yargs from 'yargs';
import type { Argv, CommandModule } from 'yargs';
import { packageVersion } from '../lib/run/config-file.js';
import * as bench from './commands/bench.js';
import * as docs from './commands/docs.js';
import * as doctor from './commands/doctor.js';
import * as evaluation from './commands/eval.js';
import * as generate from './commands/generate.js';
import * as log from './commands/log.js';
import * as report from './commands/report.js';
import * as sft from './commands/sft.js';
import * as setup from './commands/setup.js';
import * as tasks from './commands/tasks.js';
import * as train from './commands/train.js';
import { checkCommand, checkOptions } from './unknown-options.js';
import { UsageError } from './usage-error.js';

const COMMANDS = [
  train,
  sft,
  evaluation,
  generate,
  tasks,
  docs,
  report,
  log,
  bench,
  setup,
  doctor,
] as unknown as CommandModule[];

/** The words of yargs for slips, and ours. */
const WORDS: [RegExp, string][] = [
  [/^Not enough arguments following: (\S+).*$/, '--$1 needs a value'],
  [/^(?:Missing dependent arguments|Implications failed):\s+(\S+) -> (\S+).*$/s, '--$1 needs --$2 beside it'],
  [/^Arguments (\S+) and (\S+) are mutually exclusive$/, '--$1 and --$2 exclude one another'],
  [/^Not enough non-option arguments: .*$/, 'an argument is missing; --help shows which'],
  [/^Unknown commands?: (.*)$/, 'there is no place for the argument $1; --help shows which there are'],
  [/^Unknown arguments?: (.*)$/, 'there is no place for the argument $1; --help shows which there are'],
];

const reworded = (message: string): string =>
  WORDS.reduce((text, [pattern, words]) => text.replace(pattern, words), message);

/**
 * The parser of the command line for the words that were typed; its `parseAsync` runs the command.
 *
 * @throws {UsageError} for a command that there is not
 */
export function commandLine(typed: string[]): Argv {
  checkCommand(
    typed,
    COMMANDS.map((module) => String(module.command).split(' ')[0] as string),
  );
  return (
    yargs(typed)
      .scriptName('grpo-native')
      .usage('$0 <command>\n\nTrains tool-using language models with GRPO.')
      // Keys with dots are flat names here; lib/config makes the nesting.
      .parserConfiguration({ 'dot-notation': false })
      .option('verbose', { type: 'boolean', describe: 'show the stack of an error', global: true })
      .command(COMMANDS)
      .demandCommand(1, 'a command is needed; grpo-native --help lists them')
      .strictCommands()
      .check((_argv, options) => checkOptions(typed, options as never), true)
      .version(packageVersion())
      .help()
      .wrap(120)
      .exitProcess(false)
      .fail((message: string, error: Error | undefined) => {
        // yargs' own complaints, such as an option without its value, are wrong usage like ours.
        if (error === undefined || error.name === 'YError') throw new UsageError(reworded(message ?? error?.message));
        throw error;
      })
  );
}
