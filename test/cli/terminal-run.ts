// A training run over a scripted policy that prints as the train command does; started by terminal.test.ts.
import { train } from '../../lib/trainer/index.js';
import { FakePolicy } from '../rollout/fake-policy.js';
import { wordEnvironment } from '../rollout/fake-environment.js';

const [output, mode = 'text'] = process.argv.slice(2) as [string, string?];
const policy = new FakePolicy({
  script: async (context, seed) => {
    await new Promise((resolve) => setTimeout(resolve, seed % 40));
    return mode !== 'constant' && seed % 2 === 0 ? `<submit>${/say (w\d)/.exec(context)![1]}</submit>` : 'no';
  },
});
const options = { quiet: mode === 'quiet', json: mode === 'json' };
const settings = { environment: wordEnvironment(), steps: 3, promptsPerStep: 2, groupSize: 4, output, ...options };
void train(settings, { policy });
