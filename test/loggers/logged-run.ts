import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggerName } from '../../lib/config/index.js';
import type { LoadOptions } from '../../lib/policy/types.js';
import { quietReporter } from '../../lib/run/index.js';
import { train } from '../../lib/trainer/index.js';
import { FakePolicy } from '../rollout/fake-policy.js';
import { wordEnvironment } from '../rollout/fake-environment.js';

/**
 * Six logged steps of a scripted policy, the last of which are lost and done again: the run goes on from step `from`.
 *
 * @returns what it warned of
 */
export async function loggedRun(output: string, loggers: readonly LoggerName[], from: number): Promise<string[]> {
  const warnings: string[] = [];
  const reporter = { ...quietReporter, warning: (text: string) => void warnings.push(text) };
  const start = async (input: object) => {
    const policy = new FakePolicy({
      script: (context, seed) => (seed % 3 === 0 ? `<submit>${/say (w\d)/.exec(context)![1]}</submit>` : 'no'),
    });
    const loadPolicy = async (_model: string | undefined, given: LoadOptions) => {
      if (given.resume !== undefined) await policy.restore(given.resume);
      return policy;
    };
    await train({ environment: wordEnvironment(), ...input }, { loadPolicy, reporter });
  };
  const shape = { promptsPerStep: 2, groupSize: 4, evalEvery: 2, saveEvery: 1, keepLast: 10 };
  await start({ model: 'fake', output, steps: 6, loggers, ...shape });
  for (let step = from + 1; step <= 6; step++) rmSync(join(output, 'checkpoints', `step-${step}`), { recursive: true });
  await start({ resume: output });
  return warnings;
}
