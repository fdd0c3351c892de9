import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TrainInput } from '../../lib/config/index.js';
import type { LoadOptions } from '../../lib/policy/types.js';
import { lockRun, quietReporter } from '../../lib/run/index.js';
import { train } from '../../lib/trainer/index.js';
import type { TrainOptions } from '../../lib/trainer/index.js';
import { FakePolicy } from '../rollout/fake-policy.js';
import type { FakeOptions } from '../rollout/fake-policy.js';
import { wordEnvironment } from '../rollout/fake-environment.js';

let folder = '';
let output = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-resume-'));
  output = join(folder, 'run');
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const halfRight: FakeOptions['script'] = (context, seed) =>
  seed % 2 === 0 ? `<submit>${/say (w\d)/.exec(context)![1]}</submit>` : 'I give up';

const BASE = { environment: wordEnvironment(), promptsPerStep: 2, groupSize: 4, evalEvery: 2 };

/** A process of its own: what it loads is what the checkpoint holds. */
async function start(input: TrainInput, options: TrainOptions = {}, fake: Partial<FakeOptions> = {}) {
  const policy = new FakePolicy({ script: halfRight, ...fake });
  const loads: LoadOptions[] = [];
  const messages: string[] = [];
  const warnings: string[] = [];
  const loadPolicy = async (_model: string | undefined, given: LoadOptions) => {
    loads.push(given);
    if (given.resume !== undefined) await policy.restore(given.resume);
    return policy;
  };
  const reporter = {
    ...quietReporter,
    message: (text: string) => void messages.push(text),
    warning: (text: string) => void warnings.push(text),
  };
  const result = await train({ model: 'fake', ...input }, { loadPolicy, reporter, ...options });
  return { policy, result, loads, messages, warnings };
}

const resume = (more: TrainInput = {}, options: TrainOptions = {}, fake: Partial<FakeOptions> = {}) =>
  start({ environment: wordEnvironment(), resume: output, ...more }, options, fake);

const text = (name: string) => readFileSync(join(output, name), 'utf8');
const lines = (name: string) =>
  text(name)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Without what a clock says. */
const timeless = (name: string) =>
  lines(name).map((line) => JSON.stringify(line, (key, value: unknown) => (/seconds|_ms$/.test(key) ? 0 : value)));

async function codeOf(work: Promise<unknown>): Promise<[string | undefined, string]> {
  return work.then(
    () => [undefined, ''] as [undefined, string],
    (error: Error & { code?: string }) => [error.code, error.message],
  );
}

/** Ends after its step N, as Ctrl-C does. */
async function stopAfter(steps: number, input: TrainInput = {}) {
  const stop = new AbortController();
  let done = 0;
  const onUpdate = () => (++done === steps ? stop.abort() : undefined);
  return start({ ...BASE, output, steps: 6, ...input }, { stop: stop.signal }, { onUpdate });
}

test('a stopped run that goes on writes the same logs as one that was never stopped', async () => {
  await start({ ...BASE, output, steps: 6 });
  const names = ['metrics.jsonl', 'evaluations.jsonl', 'trajectories.jsonl'];
  const whole = names.map(timeless);
  rmSync(output, { recursive: true });
  const { result } = await stopAfter(3);
  assert.ok(result.interrupted);
  assert.is(lines('metrics.jsonl').length, 3);
  const second = await resume();
  assert.match(second.loads[0]!.resume!, /checkpoints\/step-3$/);
  assert.is(second.loads[0]!.lora, undefined, 'the checkpoint brings its own');
  assert.equal(names.map(timeless), whole);
  assert.is(second.result.steps, 6);
  assert.is(second.result.evaluations.length, 4);
  assert.is(second.policy.weightsVersion, 6);
  assert.ok(!existsSync(join(output, 'run.lock')));
});

test('what a killed process logged after its last checkpoint is cut, and its leftovers are removed', async () => {
  await start({ ...BASE, output, steps: 6 });
  const whole = timeless('metrics.jsonl');
  rmSync(join(output, 'checkpoints', 'step-6'), { recursive: true });
  appendFileSync(join(output, 'metrics.jsonl'), '{"step":7,"seco');
  writeFileSync(join(output, 'checkpoints', '.step-6.77-abc.tmp'), 'half');
  const { result } = await resume();
  assert.is(result.steps, 6);
  assert.equal(timeless('metrics.jsonl'), whole);
  assert.equal(readdirSync(join(output, 'checkpoints')).sort(), ['step-4', 'step-5', 'step-6']);
});

test('a broken newest checkpoint is skipped with a message that names the file', async () => {
  await stopAfter(3);
  const weights = join(output, 'checkpoints', 'step-3', 'adapter', 'adapter_config.json');
  writeFileSync(weights, readFileSync(weights, 'utf8').replace('3', '4'));
  const { result, warnings, loads } = await resume();
  assert.match(loads[0]!.resume!, /step-2$/);
  assert.match(warnings.join(), /step 3 is broken and skipped: adapter\/adapter_config\.json has changed/);
  assert.equal(
    lines('metrics.jsonl').map((line) => line['step']),
    [1, 2, 3, 4, 5, 6],
  );
  assert.is(result.steps, 6);
});

test('when every checkpoint is broken the run is not silently started anew', async () => {
  await stopAfter(2);
  for (const name of readdirSync(join(output, 'checkpoints'))) {
    writeFileSync(join(output, 'checkpoints', name, 'run.json'), '{');
  }
  const [code, message] = await codeOf(resume());
  assert.is(code, 'RUN_INVALID');
  assert.match(message, /all 3 are broken/);
  assert.is(lines('metrics.jsonl').length, 2, 'the logs are as they were');
});

test('a changed option is an error that names it with both values; --override takes it', async () => {
  await stopAfter(2);
  const [code, message] = await codeOf(resume({ promptsPerStep: 1, optimizer: { learningRate: 1 } }));
  assert.is(code, 'INVALID_CONFIG');
  assert.match(message, /promptsPerStep is 1, in the run 2; optimizer\.learningRate is 1, in the run 0\.000005/);
  assert.match(message, /--override/);
  const { policy } = await resume({ promptsPerStep: 1, optimizer: { learningRate: 1 }, override: true });
  assert.is(policy.updates[0]!.optimizer!.learningRate, 1);
  const { config } = JSON.parse(text('config.json')) as { config: { promptsPerStep: number; override?: boolean } };
  assert.is(config.promptsPerStep, 1);
  assert.is(config.override, undefined);
});

test('the same options again, and how a process prints, are no change', async () => {
  await stopAfter(2);
  const { result } = await resume({ promptsPerStep: 2, groupSize: 4, quiet: true, maxHours: 5, output });
  assert.is(result.steps, 6);
});

test('more steps go on after the end; without them nothing is left to do', async () => {
  await start({ ...BASE, output, steps: 2 });
  const same = await resume();
  assert.is(same.policy.updates.length, 0);
  assert.is(same.result.steps, 2);
  assert.equal(same.result.metrics, lines('metrics.jsonl')[1]);
  const more = await resume({ steps: 3, override: true });
  assert.is(more.policy.updates.length, 1);
  assert.is(lines('metrics.jsonl').length, 3);
});

test('other tasks than the run had are refused', async () => {
  await stopAfter(2);
  const environment = wordEnvironment();
  environment.tasks.pop();
  const [code, message] = await codeOf(resume({ environment }));
  assert.is(code, 'INVALID_CONFIG');
  assert.match(message, /tasks are not those of the run/);
});

test('no run, no checkpoint, two at once', async () => {
  const [code, message] = await codeOf(resume());
  assert.is(code, 'RUN_INVALID');
  assert.match(message, /holds no run/);

  await stopAfter(2);
  rmSync(join(output, 'checkpoints'), { recursive: true });
  const { result, messages } = await resume();
  assert.match(messages.join(), /has no checkpoint yet: starting at its first step/);
  assert.is(result.steps, 6);
  assert.is(lines('metrics.jsonl').length, 6);

  const release = await lockRun(output);
  const [locked, said] = await codeOf(resume({ steps: 7, override: true }));
  assert.is(locked, 'RUN_LOCKED');
  assert.match(said, new RegExp(`process ${process.pid} is working in`));
  await release();
});

test('the lock of a process that is gone is taken over', async () => {
  await stopAfter(2);
  const { host } = await lockRun(output).then(async (release) => {
    const owner = JSON.parse(text('run.lock')) as { host: string };
    await release();
    return owner;
  });
  // A number that lives, but began at another time: it was given out again.
  writeFileSync(join(output, 'run.lock'), JSON.stringify({ host, pid: process.ppid, began: '1' }));
  assert.is((await resume()).result.steps, 6);
});

test('saveEvery and keepLast say which checkpoints there are; the last step always has one', async () => {
  await start({ ...BASE, output, steps: 7, saveEvery: 3, keepLast: 2 });
  assert.equal(readdirSync(join(output, 'checkpoints')).sort(), ['step-6', 'step-7']);
});

test('a disk that refuses ends the run with its error, and the earlier checkpoint goes on', async () => {
  const policy = new FakePolicy({ script: halfRight });
  const save = policy.saveCheckpoint.bind(policy);
  policy.saveCheckpoint = async (to) => {
    await save(to);
    if (policy.weightsVersion >= 2) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  };
  const [code, message] = await codeOf(
    train({ ...BASE, model: 'fake', output, steps: 6 }, { policy, reporter: quietReporter }),
  );
  assert.is(code, 'IO_FAILED');
  assert.match(message, /no space left/);
  assert.equal(readdirSync(join(output, 'checkpoints')).sort(), ['step-0', 'step-1']);
  const { result } = await resume();
  assert.is(result.steps, 6);
  assert.is(lines('metrics.jsonl').length, 6);
});

test('patience ends a run whose evaluations no longer get better, and keeps the best', async () => {
  const { result, messages } = await start(
    { ...BASE, output, steps: 50, evalEvery: 1, patience: 2 },
    {},
    {
      script: () => 'I give up',
    },
  );
  assert.is(result.steps, 2);
  assert.match(messages.join(), /no better evaluation since step 0, 2 in a row/);
  assert.not(result.interrupted);
});

test('gradient accumulation makes one update of several batches, each task sampled with its own numbers', async () => {
  const input = { ...BASE, output, steps: 1, gradientAccumulation: 3, constantGroups: 'keep' as const };
  const { policy } = await start(input);
  assert.is(policy.updates.length, 1);
  assert.is(policy.updates[0]!.rows.length, 24);
  const groups = new Map(lines('trajectories.jsonl').map((line) => [line['group'], line['task']]));
  assert.is(groups.size, 6);
  assert.is(new Set(groups.values()).size, 5, 'all five training tasks in their order, then the next epoch');
  assert.is(lines('metrics.jsonl')[0]!['groups'], 6);
});

test.run();
