import type { Argv } from 'yargs';
import { setup } from '../../lib/setup/setup.js';

export const command = 'setup';
export const describe = 'fetch libtorch and take or build the native core';

export function builder(yargs: Argv): Argv<{ rebuild: boolean }> {
  return yargs.option('rebuild', {
    type: 'boolean',
    default: false,
    describe: 'build the core even when one that fits is there',
  });
}

export async function handler(args: { rebuild: boolean }): Promise<void> {
  await setup({ rebuild: args.rebuild, report: (line) => process.stderr.write(`grpo-native: ${line}\n`) });
  process.stdout.write('ready: libtorch and the native core load\n');
}
