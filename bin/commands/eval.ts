import type { Argv } from 'yargs';
import { evaluateSchema, flagOptions, readFlags } from '../../lib/config/index.js';
import type { EvaluateInput } from '../../lib/config/index.js';
import { onInterrupt } from '../interrupt.js';

export const command = 'eval';
export const describe = 'pass@1 (pass@k) in the modes no-tools, code-only, multi-tool';

export function builder(yargs: Argv): Argv {
  return yargs
    .options(flagOptions(evaluateSchema))
    .example('$0 eval --model MODEL --tasks tasks.jsonl', 'the baseline rows of the table')
    .example(
      '$0 eval --model MODEL --adapter runs/NAME/best --tasks tasks.jsonl --output results.json',
      'before and after',
    );
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const input = readFlags(evaluateSchema, args) as EvaluateInput;
  const { evaluate } = await import('../../lib/evaluate/index.js');
  const kept = input.output === undefined ? '' : '; finished episodes are kept: go on with --resume';
  const interruption = onInterrupt(() => `stopping${kept}`);
  try {
    const { baseline, trained } = await evaluate(input, { signal: interruption.stop });
    if (input.json) process.stdout.write(`${JSON.stringify({ baseline, trained }, undefined, 2)}\n`);
  } catch (error) {
    const code = interruption.exitCode();
    if (code === undefined) throw error;
    process.exitCode = code;
  } finally {
    interruption.dispose();
  }
}
