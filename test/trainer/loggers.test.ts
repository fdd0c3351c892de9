import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WandbServer } from '../loggers/wandb-server.js';
import { loggedRun } from '../loggers/logged-run.js';

const ALL = ['tensorboard', 'wandb', 'jsonl'] as const;
const WANDB = ['WANDB_API_KEY', 'WANDB_BASE_URL', 'WANDB_PROJECT', 'WANDB_MODE'];

let output = '';
let server: WandbServer;
test.before.each(async () => {
  output = join(mkdtempSync(join(tmpdir(), 'grpo-logged-')), 'run');
  server = new WandbServer();
  for (const name of WANDB) delete process.env[name];
  process.env['WANDB_API_KEY'] = 'secret';
  process.env['WANDB_BASE_URL'] = await server.listen();
  process.env['WANDB_PROJECT'] = 'tests';
});
test.after.each(() => {
  server.close();
  rmSync(join(output, '..'), { recursive: true, force: true });
});

const scalars = () =>
  readFileSync(join(output, 'scalars.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, number>);
const metrics = () =>
  readFileSync(join(output, 'metrics.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, number>);

test('every step of a run is logged once and in order, also when it was resumed from an earlier step', async () => {
  const warnings = await loggedRun(output, ALL, 3);
  assert.equal(warnings, []);
  const expected = [0, 1, 2, 3, 4, 5, 6];
  assert.equal(
    scalars().map(({ step }) => step),
    expected,
  );
  assert.equal(
    server.history.map(({ _step }) => _step),
    expected,
  );
  assert.equal(server.faults, []);
  for (const { step, reward_mean, grad_norm } of metrics()) {
    const row = scalars().find((line) => line['step'] === step)!;
    assert.is(row['train/reward_mean'], reward_mean);
    assert.is(row['train/grad_norm'], grad_norm ?? undefined);
  }
  assert.ok('eval/multi-tool/reward_mean' in scalars()[2]! && !('eval/multi-tool/reward_mean' in scalars()[1]!));
});

test.run();
