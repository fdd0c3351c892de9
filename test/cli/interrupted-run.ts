// A training run over a scripted policy, as the train command runs it; started by interrupt.test.ts.
import { onInterrupt } from '../../bin/interrupt.js';
import { train } from '../../lib/trainer/index.js';
import { FakePolicy } from '../rollout/fake-policy.js';
import { wordEnvironment } from '../rollout/fake-environment.js';

const [output, wait] = process.argv.slice(2) as [string, string];
const policy = new FakePolicy({
  script: async (context, seed) => {
    process.stdout.write('sampling\n');
    await new Promise((resolve) => setTimeout(resolve, Number(wait)));
    return seed % 2 === 0 ? `<submit>${/say (w\d)/.exec(context)![1]}</submit>` : 'no';
  },
});
const interruption = onInterrupt(() => 'stopping');
train(
  { environment: wordEnvironment(), steps: 1000, output, promptsPerStep: 1, groupSize: 4, quiet: true },
  { policy, stop: interruption.stop, signal: interruption.signal },
).then(
  () => {
    interruption.dispose();
    process.exitCode = interruption.exitCode() ?? 0;
  },
  (error: unknown) => {
    process.stderr.write(String(error));
    process.exitCode = 1;
  },
);
