// A training run on the tiny model in a process of its own: training-program.ts OUTPUT MODEL STEPS [resume]; started by the
// tests of resuming. Prints a line after every step.
import { onInterrupt } from '../../bin/interrupt.js';
import { quietReporter } from '../../lib/run/index.js';
import { train } from '../../lib/trainer/index.js';
import { TINY_LORA, vowelsEnvironment } from './tiny-model.js';

const [output, model, steps, resume] = process.argv.slice(2) as [string, string, string, string | undefined];
const environment = vowelsEnvironment();
const settings = {
  model,
  environment,
  output,
  steps: Number(steps),
  promptsPerStep: 2,
  groupSize: 4,
  maxNewTokens: 8,
  evalEvery: 3,
  strict: true,
  lora: { ...TINY_LORA, dropout: 0.1 },
  optimizer: { learningRate: 1e-2 },
  schedule: 'cosine' as const,
  warmupSteps: 2,
};
const say = (line: string) => void process.stdout.write(`${line}\n`);
const reporter = {
  ...quietReporter,
  step: ({ step }: { step: number }) => say(`step ${step}`),
  warning: say,
  message: say,
};
const interruption = onInterrupt(() => 'stopping');
train(resume === undefined ? settings : { environment, resume: output }, {
  reporter,
  stop: interruption.stop,
  signal: interruption.signal,
}).then(
  () => {
    interruption.dispose();
    process.exitCode = interruption.exitCode() ?? 0;
  },
  (error: unknown) => {
    say(String(error));
    process.exitCode = 1;
  },
);
