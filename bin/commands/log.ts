import type { Argv } from 'yargs';
import { LOGGER_NAMES } from '../../lib/config/index.js';
import type { LoggerName } from '../../lib/config/index.js';
import { suggest } from '../../lib/known-keys.js';
import { printLine } from '../../lib/terminal/live.js';
import { UsageError } from '../usage-error.js';

export const command = 'log <run>';
export const describe = 'log the records of a run to TensorBoard, Weights & Biases or a plain file';

export function builder(yargs: Argv): Argv {
  return yargs
    .positional('run', { type: 'string', demandOption: true, describe: "the run's folder" })
    .option('to', {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: `where to, with commas between: ${LOGGER_NAMES.join(', ')}`,
    })
    .example('$0 log runs/NAME --to tensorboard', 'event files in runs/NAME/tensorboard');
}

function namesOf(given: unknown): LoggerName[] {
  return [given]
    .flat()
    .flatMap((text) => String(text).split(','))
    .map((name) => {
      const found = LOGGER_NAMES.find((known) => known === name);
      if (found === undefined) throw new UsageError(`--to: unknown logger ${name}; ${suggest(name, LOGGER_NAMES)}`);
      return found;
    });
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const names = namesOf(args['to']);
  const { logRun } = await import('../../lib/loggers/index.js');
  const taken = await logRun({
    names,
    folder: String(args['run']),
    message: (text) => printLine(process.stderr, text),
    warning: (text) => printLine(process.stderr, `warning: ${text}`),
  });
  process.stdout.write(taken.length === 0 ? 'nothing was logged\n' : `logged to ${taken.join(', ')}\n`);
  if (taken.length < names.length) process.exitCode = 1;
}
