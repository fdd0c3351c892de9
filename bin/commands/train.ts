import type { Argv } from 'yargs';
import { flagOptions, loadConfigFile, mergeTrainInputs, readFlags, trainSchema } from '../../lib/config/index.js';
import { GrpoError } from '../../lib/errors.js';
import { onInterrupt } from '../interrupt.js';

export const command = 'train [config]';
export const describe = 'train a model with GRPO on tasks';

export function builder(yargs: Argv): Argv {
  return yargs
    .positional('config', { type: 'string', describe: 'configuration file: JSON, YAML or a module; flags override it' })
    .options(flagOptions(trainSchema))
    .example('$0 train --model MODEL --tasks tasks.jsonl --steps 3', 'three steps of the code agent')
    .example('$0 train my-run.yaml --optimizer.learning-rate 1e-5', 'a file, with one key changed');
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const file = typeof args['config'] === 'string' ? await loadConfigFile(args['config']) : {};
  const input = mergeTrainInputs(file, readFlags(trainSchema, args));
  const { train } = await import('../../lib/trainer/index.js');
  const interruption = onInterrupt(
    'stopping: the present step ends (20 s at most), then the state is saved; again to leave at once',
  );
  try {
    await train(input, { stop: interruption.stop, signal: interruption.signal });
    process.exitCode = interruption.exitCode() ?? 0;
  } catch (error) {
    const code = interruption.exitCode();
    // Stopped before there was anything to save, e.g. while the model was loading.
    if (code === undefined || !(error instanceof GrpoError && error.code === 'ABORTED')) throw error;
    process.exitCode = code;
  } finally {
    interruption.dispose();
  }
}
