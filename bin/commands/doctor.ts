import type { Argv } from 'yargs';
import { formatChecks, runChecks } from '../../lib/setup/doctor.js';
import type { Check } from '../../lib/setup/doctor.js';

export const command = 'doctor';
export const describe = 'check this machine, and say how to mend what is wrong';

interface DoctorArguments {
  json: boolean;
  model?: string;
  adapter?: string;
}

export function builder(yargs: Argv): Argv<DoctorArguments> {
  return yargs
    .option('json', { type: 'boolean', default: false, describe: 'print the checks as JSON' })
    .option('model', { type: 'string', requiresArg: true, describe: 'measure whether this model can be trained here' })
    .option('adapter', { type: 'string', requiresArg: true, implies: 'model', describe: 'with this adapter on it' });
}

async function modelChecks(model: string, adapter: string | undefined): Promise<Check[]> {
  const { checkModel } = await import('../../lib/trainer/index.js');
  const found = await checkModel({ model, ...(adapter === undefined ? {} : { adapter }) });
  return found.map(({ name, ok, detail }) => ({ name, state: ok ? 'ok' : 'missing', detail }));
}

export async function handler({ json, model, adapter }: DoctorArguments): Promise<void> {
  const machine = runChecks();
  const isReady = machine.every(({ state }) => state !== 'missing');
  // A machine that is not ready would only fail in other words.
  const checks = model !== undefined && isReady ? [...machine, ...(await modelChecks(model, adapter))] : machine;
  process.stdout.write(json ? `${JSON.stringify(checks, null, 2)}\n` : formatChecks(checks));
  if (checks.some(({ state }) => state === 'missing')) process.exitCode = 1;
}
