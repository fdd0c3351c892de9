import { hideBin } from 'yargs/helpers';
import { GrpoError } from '../lib/errors.js';
import { coloursFor } from '../lib/terminal/colours.js';
import { printLine } from '../lib/terminal/live.js';
import { commandLine } from './command-line.js';
import { UsageError } from './usage-error.js';

function printError(error: unknown, verbose: boolean): void {
  const isUsage = error instanceof UsageError || (error instanceof GrpoError && error.code === 'INVALID_CONFIG');
  process.exitCode = isUsage ? 2 : 1;
  const known = error instanceof GrpoError || error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  const line = message.trim().replace(/\s*\n\s*/g, ' ');
  const { red } = coloursFor(process.stderr);
  const hint = verbose ? '' : ' (--verbose shows the stack)';
  printLine(process.stderr, `${red('grpo-native:')} ${known ? line : `unexpected error: ${line}${hint}`}`);
  if (!verbose || !(error instanceof Error)) return;
  printLine(process.stderr, error.stack ?? '');
  if (error.cause instanceof Error) printLine(process.stderr, `caused by: ${error.cause.stack ?? error.cause.message}`);
}

async function run(typed: string[]): Promise<void> {
  await commandLine(typed).parseAsync();
}

// A reader that has gone (`| head`), or a full disk behind a redirection, must not end a run: it goes on unheard.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const typed = hideBin(process.argv);
// What is fetched or built at first use, in a process of its own too, keeps as quiet as the command.
if (typed.includes('--quiet')) process.env['GRPO_QUIET'] = '1';
run(typed).catch((error: unknown) => printError(error, typed.includes('--verbose')));
