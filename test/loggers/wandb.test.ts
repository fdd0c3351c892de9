import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logRun, RunLoggers } from '../../lib/loggers/index.js';
import { WandbServer } from './wandb-server.js';

let folder = '';
let server: WandbServer;
let env: NodeJS.ProcessEnv = {};
let warnings: string[] = [];
let messages: string[] = [];

test.before.each(async () => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-wandb-'));
  writeFileSync(join(folder, 'config.json'), '{"config":{"steps":4,"lora":{"rank":8}}}');
  server = new WandbServer();
  env = { WANDB_API_KEY: 'secret', WANDB_BASE_URL: await server.listen(), WANDB_PROJECT: 'tests' };
  warnings = [];
  messages = [];
});
test.after.each(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const request = () => ({
  names: ['wandb' as const],
  folder,
  env,
  message: (text: string) => void messages.push(text),
  warning: (text: string) => void warnings.push(text),
});
const records = (steps: number[]) =>
  writeFileSync(
    join(folder, 'metrics.jsonl'),
    steps.map((step) => `${JSON.stringify({ step, loss: 1 / step, seconds: 1 })}\n`).join(''),
  );

async function steps(loggers: RunLoggers, ...numbers: number[]): Promise<void> {
  for (const step of numbers) {
    loggers.step({ step, loss: 1 / step });
    await loggers.commit(step);
  }
}
const sentSteps = () => server.history.map(({ _step }) => _step);

test('a run is made under the key, with its configuration, and every step is one line', async () => {
  const loggers = await RunLoggers.open(request());
  await steps(loggers, 1, 2);
  await loggers.close('finished');
  assert.equal(warnings, []);
  assert.equal(server.faults, []);
  assert.equal(sentSteps(), [1, 2]);
  assert.is(server.history[1]!['train/loss'], 0.5);
  assert.ok(server.history[1]!['_timestamp']! > 1.7e9);
  assert.is(server.summary['train/loss'], 0.5);
  assert.equal(server.config, { steps: { value: 4 }, lora: { value: { rank: 8 } } });
  assert.is(server.displayName, basename(folder));
  assert.equal(server.ends, [0]);
});

test('a run that goes on is the same run there, and steps that were sent are not sent again', async () => {
  const first = await RunLoggers.open(request());
  await steps(first, 1, 2, 3);
  await first.close('interrupted');
  records([1, 2]); // the checkpoint was at step 2
  const second = await RunLoggers.open(request());
  await steps(second, 3, 4);
  await second.close('finished');
  assert.equal(sentSteps(), [1, 2, 3, 4]);
  assert.is(server.ids.size, 1);
  assert.equal(server.faults, []);
  assert.equal(server.ends, [255, 0]);
});

test('an outage is told once, ends nothing, and what waited is sent afterwards in order', async () => {
  const loggers = await RunLoggers.open(request());
  await steps(loggers, 1);
  server.failing = 2;
  for (const step of [2, 3, 4]) {
    await steps(loggers, step);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await loggers.close('finished');
  assert.equal(sentSteps(), [1, 2, 3, 4]);
  assert.is(warnings.length, 1, warnings.join('\n'));
  assert.match(warnings[0]!, /^wandb: \[wandb\] http:.* answered 503: busy; steps are kept and tried again$/);
});

test('where nothing can be sent the end says how to do so later, and that works', async () => {
  server.failing = Infinity;
  const loggers = await RunLoggers.open(request());
  records([1, 2]);
  await steps(loggers, 1, 2);
  await loggers.close('finished');
  assert.match(warnings.at(-1)!, /2 steps were not sent: .*503.*; grpo-native log .* --to wandb sends them later$/);
  assert.equal(await logRun(request()), []);
  server.failing = 0;
  assert.equal(await logRun(request()), ['wandb']);
  assert.equal(sentSteps(), [1, 2]);
  await logRun(request());
  assert.equal(sentSteps(), [1, 2], 'a second time sends nothing');
});

test('a wrong key, no key and WANDB_MODE offline are told, and the run goes on', async () => {
  env['WANDB_API_KEY'] = 'wrong';
  const loggers = await RunLoggers.open(request());
  await steps(loggers, 1);
  await loggers.close('finished');
  assert.match(warnings[0]!, /refuses the key in WANDB_API_KEY \(401\)/);

  warnings = [];
  delete env['WANDB_API_KEY'];
  await (await RunLoggers.open(request())).close('finished');
  assert.equal(warnings, ['logger wandb is off from here on: [wandb] there is no key: set WANDB_API_KEY']);

  warnings = [];
  env['WANDB_MODE'] = 'offline';
  const offline = await RunLoggers.open(request());
  await steps(offline, 1);
  await offline.close('finished');
  assert.equal(warnings, []);
  assert.equal(await logRun(request()), []);
  assert.match(messages[0]!, /nothing is sent \(WANDB_MODE offline\); grpo-native log .* --to wandb sends it later/);
  assert.equal(server.history, []);
});

test('the key is written nowhere', async () => {
  const loggers = await RunLoggers.open(request());
  await steps(loggers, 1);
  await loggers.close('finished');
  assert.not.match(readFileSync(join(folder, 'wandb.json'), 'utf8'), 'secret');
});

test.run();
