import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { train } from '../../lib/index.js';
import type { TrainInput } from '../../lib/config/index.js';
import { quietReporter, type EvaluationRecord, type StepMetrics } from '../../lib/run/index.js';
import { vowelsEnvironment, writeTinyModel } from './tiny-model.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-options-'));
const model = join(folder, 'model');
test.before(async () => void (await writeTinyModel(model)));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Every weight trained; two batches a step. */
async function run(name: string, input: TrainInput) {
  const messages: string[] = [];
  const tell = (text: string) => void messages.push(text);
  const output = join(folder, name);
  const sizes = { promptsPerStep: 2, groupSize: 4, maxNewTokens: 40, evalEvery: 0, gradientAccumulation: 2 };
  const fixed = { model, environment: vowelsEnvironment(), train: 'full' as const, constantGroups: 'keep' as const };
  const optimizer = { learningRate: 1e-3 };
  const reporter = { ...quietReporter, message: tell, warning: tell };
  const result = await train({ ...fixed, ...sizes, optimizer, output, ...input }, { reporter });
  const read = <T>(log: string) =>
    readFileSync(join(output, log), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as T);
  return {
    result,
    messages,
    metrics: read<StepMetrics>('metrics.jsonl'),
    evaluations: read<EvaluationRecord>('evaluations.jsonl'),
  };
}

test('full training in a budget of 4 MB is cut into micro-batches, says so, and learns the same', async () => {
  const settings = { steps: 2, schedule: 'cosine', warmupSteps: 1 } as const;
  const free = await run('free', settings);
  const small = await run('small', { ...settings, memoryGb: 0.004 });
  assert.equal(
    free.metrics.map(({ memory_note: note, episodes }) => [note, episodes]),
    [
      [null, 16],
      [null, 16],
    ],
  );
  assert.match(small.metrics[0]!.memory_note!, /^memory allows micro-batches of \d+ tokens .* recomputed in backward$/);
  assert.ok(small.metrics[0]!.micro_batches! > 4 && free.metrics[0]!.micro_batches === 1);
  assert.ok(small.messages.some((text) => text.startsWith('step 1: memory allows micro-batches of')));
  for (const field of ['loss', 'grad_norm', 'entropy'] as const) {
    const [whole, pieces] = [free.metrics[0]![field]!, small.metrics[0]![field]!];
    assert.ok(Math.abs(whole - pieces) < 1e-5 * Math.max(1, Math.abs(whole)), `${field}: ${whole} and ${pieces}`);
  }
});

test('the learning rate follows warm-up and cosine over the steps of the run', async () => {
  const { metrics } = await run('cosine', { steps: 5, schedule: 'cosine', warmupSteps: 2 });
  const rates = metrics.map((line) => line.learning_rate / 1e-3);
  const course = [0.5, 1, 1, 0.75, 0.25];
  rates.forEach((rate, index) => assert.ok(Math.abs(rate - course[index]!) < 1e-9, rates.join()));
});

test('patience ends a run without better evaluations, which is evaluated and says why', async () => {
  const still = { optimizer: { learningRate: 0 }, evalEvery: 1, steps: 9, patience: 2 };
  const { result, messages, evaluations } = await run('patience', still);
  assert.is(result.steps, 2);
  assert.not(result.interrupted);
  assert.equal(
    evaluations.map((line) => line.step),
    [0, 1, 2],
  );
  assert.match(messages.at(-1)!, /^no better evaluation since step 0, 2 in a row: stopping after step 2$/);
});

test('maxHours ends a run after the step in which they pass, evaluated and saved', async () => {
  const { result, messages, evaluations } = await run('hours', { steps: 9, maxHours: 1e-9 });
  assert.is(result.steps, 1);
  assert.equal(
    evaluations.map((line) => line.step),
    [0, 1],
  );
  assert.match(messages.at(-1)!, /maxHours 1e-9 has passed: stopping after step 1/);
});

test.run();
