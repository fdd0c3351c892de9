import type { Argv } from 'yargs';
import { formatChecks, runChecks } from '../../lib/setup/doctor.js';

export const command = 'doctor';
export const describe = 'check this machine, and say how to mend what is wrong';

export function builder(yargs: Argv): Argv<{ json: boolean }> {
  return yargs.option('json', { type: 'boolean', default: false, describe: 'print the checks as JSON' });
}

export function handler(args: { json: boolean }): void {
  const checks = runChecks();
  process.stdout.write(args.json ? `${JSON.stringify(checks, null, 2)}\n` : formatChecks(checks));
  if (checks.some(({ state }) => state === 'missing')) process.exitCode = 1;
}
