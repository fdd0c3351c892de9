import type { Argv } from 'yargs';
import { printLine } from '../../lib/terminal/live.js';
import { setup } from '../../lib/setup/setup.js';

export const command = 'setup';
export const describe = 'fetch libtorch and take or build the native core';

interface SetupArguments {
  rebuild: boolean;
  quiet: boolean;
}

export function builder(yargs: Argv): Argv<SetupArguments> {
  return yargs
    .option('rebuild', {
      type: 'boolean',
      default: false,
      describe: 'build the core even when one that fits is there',
    })
    .option('quiet', { type: 'boolean', default: false, describe: 'print nothing but errors' });
}

export async function handler({ rebuild, quiet }: SetupArguments): Promise<void> {
  const say = (line: string) => printLine(process.stderr, `grpo-native: ${line}`);
  await setup({ rebuild, ...(quiet ? {} : { report: say }) });
  if (!quiet) process.stdout.write('ready: libtorch and the native core load\n');
}
