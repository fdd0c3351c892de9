import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/index.js';
import { runTraining, stepsIn, timelessLines } from './run-training.js';
import { writeTinyModel } from './tiny-model.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-resume-'));
const model = join(folder, 'model');
const at = (name: string) => join(folder, name);
const STEPS = '8';
const LOGS = ['metrics.jsonl', 'evaluations.jsonl', 'trajectories.jsonl'];
const weights = (run: string) => readFileSync(join(run, 'adapter', 'adapter_model.safetensors'));

test.before(async () => void (await writeTinyModel(model)));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test('strict: steps, a kill, and the other steps give the very bytes of a run that was never killed', async () => {
  const whole = await runTraining([at('whole'), model, STEPS]);
  assert.is(whole.code, 0, whole.output);
  const killed = await runTraining([at('killed'), model, STEPS], (line, kill) => {
    if (line === 'step 4') kill('SIGKILL');
  });
  assert.is(killed.signal, 'SIGKILL', killed.output);
  const resumed = await runTraining([at('killed'), model, STEPS, 'resume']);
  assert.is(resumed.code, 0, resumed.output);
  assert.match(resumed.output, /going on after step [345]/);
  for (const name of LOGS) assert.equal(timelessLines(at('killed'), name), timelessLines(at('whole'), name), name);
  assert.ok(weights(at('killed')).equals(weights(at('whole'))), 'the adapters are the same, byte for byte');
  assert.equal(stepsIn(at('killed'), 'metrics.jsonl'), [1, 2, 3, 4, 5, 6, 7, 8]);
});

test('the first Ctrl-C ends after the step with a checkpoint, and the run goes on to the same end', async () => {
  const stopped = await runTraining([at('stopped'), model, STEPS], (line, kill) => {
    if (line === 'step 2') kill('SIGINT');
  });
  assert.is(stopped.code, 130, stopped.output);
  const resumed = await runTraining([at('stopped'), model, STEPS, 'resume']);
  assert.is(resumed.code, 0, resumed.output);
  assert.ok(weights(at('stopped')).equals(weights(at('whole'))));
  assert.equal(timelessLines(at('stopped'), 'metrics.jsonl'), timelessLines(at('whole'), 'metrics.jsonl'));
});

test('a second process on a run that is at work refuses', async () => {
  let second: Promise<{ code: number | null; output: string }> | undefined;
  const first = await runTraining([at('busy'), model, '400'], (line, kill) => {
    if (line !== 'step 1') return;
    second = runTraining([at('busy'), model, '400', 'resume']).finally(() => kill('SIGTERM'));
  });
  assert.is(first.code, 143, first.output);
  const ended = await second;
  assert.is(ended!.code, 1);
  assert.match(ended!.output, /process \d+ is working in/);
});

test('a cold start from the same adapter goes another way: the moments matter', async () => {
  const checkpoint = join(at('whole'), 'checkpoints', 'step-7');
  const ids = Array.from({ length: 20 }, (_, t) => (t * 37 + 11) % 250);
  const rows = [{ ids, mask: ids.map(() => 1), advantage: 1 }];
  const step = async (options: { resume?: string; adapter?: string }) => {
    const policy = await Policy.load(model, options);
    await policy.update({ rows, optimizer: { learningRate: 1e-2 } });
    const [logprobs] = await policy.logprobs([ids]);
    await policy.close();
    return Array.from(logprobs!);
  };
  const warm = await step({ resume: checkpoint });
  assert.equal(await step({ resume: checkpoint }), warm, 'twice the same');
  const cold = await step({ adapter: join(checkpoint, 'adapter') });
  assert.ok(Math.max(...cold.map((value, t) => Math.abs(value - warm[t]!))) > 1e-4);
});

test.run();
