import type { Argv } from 'yargs';
import { flagOptions, loadConfigFile, mergeSftInputs, readFlags, sftSchema } from '../../lib/config/index.js';
import { runTraining } from '../training-run.js';

export const command = 'sft [config]';
export const describe = 'supervised training on conversations, token rows or trajectories';

export function builder(yargs: Argv): Argv {
  return yargs
    .positional('config', { type: 'string', describe: 'configuration file: JSON, YAML or a module; flags override it' })
    .options(flagOptions(sftSchema))
    .example('$0 sft --model MODEL --data conversations.jsonl --epochs 2', 'two epochs over conversations')
    .example('$0 sft --model MODEL --data runs/NAME/trajectories.jsonl --min-reward 1', 'the best episodes of a run');
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const file = typeof args['config'] === 'string' ? await loadConfigFile(args['config']) : {};
  const input = mergeSftInputs(file, readFlags(sftSchema, args));
  const { sft } = await import('../../lib/trainer/index.js');
  await runTraining((signals) => sft(input, signals));
}
