import type { Argv } from 'yargs';
import { flagOptions, loadConfigFile, mergeTrainInputs, readFlags, trainSchema } from '../../lib/config/index.js';
import type { TrainInput } from '../../lib/config/index.js';
import type { ServedReport } from '../../lib/report/index.js';
import { takesColours } from '../../lib/terminal/colours.js';
import { printLine } from '../../lib/terminal/live.js';
import type { CheckedRun, TrainOptions } from '../../lib/trainer/index.js';
import { runTraining } from '../training-run.js';

export const command = 'train [config]';
export const describe = 'train a model with GRPO on tasks';

export function builder(yargs: Argv): Argv {
  return yargs
    .positional('config', { type: 'string', describe: 'configuration file: JSON, YAML or a module; flags override it' })
    .options(flagOptions(trainSchema))
    .option('check', {
      type: 'boolean',
      describe:
        'measure whether this configuration can be trained (two short episodes, some updates), and train nothing',
    })
    .option('open', {
      type: 'boolean',
      describe: "serve the run's page on 127.0.0.1 while training, and open it in a browser",
    })
    .conflicts('open', 'check')
    .example('$0 train --model MODEL --tasks tasks.jsonl --steps 3', 'three steps of the code agent')
    .example('$0 train my-run.yaml --optimizer.learning-rate 1e-5', 'a file, with one key changed');
}

const GREEN: [string, string] = ['\u001b[32m', '\u001b[39m'];

function printChecks({ checks, marked }: CheckedRun): void {
  process.stdout.write(`one episode, with what the policy sampled (mask 1) marked:\n${marked}\n\n`);
  for (const { name, ok, detail } of checks) process.stdout.write(`${ok ? 'ok    ' : 'FAILED'}  ${name}: ${detail}\n`);
  if (checks.some(({ ok }) => !ok)) process.exitCode = 1;
}

/** Trains with the run's page served beside it, up to date with every step. */
async function trainServed(input: TrainInput, signals: TrainOptions): Promise<void> {
  const { train } = await import('../../lib/trainer/index.js');
  const { serveReport } = await import('../../lib/report/index.js');
  const { openBrowser } = await import('../open-browser.js');
  let served: ServedReport | undefined;
  const onFolder = async (folder: string) => {
    served = await serveReport(folder);
    printLine(process.stderr, `the run's page: ${served.address}`);
    await openBrowser(served.address);
  };
  try {
    await train(input, { ...signals, onFolder });
  } finally {
    await served?.close();
  }
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const file = typeof args['config'] === 'string' ? await loadConfigFile(args['config']) : {};
  const input = mergeTrainInputs(file, readFlags(trainSchema, args));
  const { checkRun, train } = await import('../../lib/trainer/index.js');
  await runTraining(async (signals) => {
    if (args['check'] !== true) return args['open'] === true ? trainServed(input, signals) : train(input, signals);
    const marks = takesColours(process.stdout) ? GREEN : undefined;
    printChecks(await checkRun(input, { signal: signals.stop }, marks));
    return undefined;
  });
}
