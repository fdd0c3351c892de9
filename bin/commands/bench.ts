import type { Argv } from 'yargs';
import { benchSchema, flagOptions, readFlags } from '../../lib/config/index.js';
import type { BenchInput } from '../../lib/config/index.js';
import { ProgressLine } from '../../lib/terminal/progress.js';

export const command = 'bench';
export const describe = 'microbenchmarks: decoding, scoring, updating, sandbox, documentation search';

export function builder(yargs: Argv): Argv {
  return yargs
    .options(flagOptions(benchSchema))
    .example('$0 bench', 'the model that comes with the package')
    .example('$0 bench --model MODEL --parts policy --json', 'one model, for a file');
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const input = readFlags(benchSchema, args) as BenchInput;
  const { bench, benchText } = await import('../../lib/bench/index.js');
  const progress = new ProgressLine(process.stderr, 'grpo-native: ');
  try {
    const result = await bench(input, { onPart: (label) => progress.show({ label }) });
    progress.clear();
    process.stdout.write(`${input.json ? JSON.stringify(result, undefined, 2) : benchText(result)}\n`);
  } finally {
    progress.clear();
  }
}
