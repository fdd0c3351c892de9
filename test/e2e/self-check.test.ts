import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/index.js';
import { checkModel, checkRun } from '../../lib/trainer/index.js';
import { selfCheck } from '../../lib/trainer/self-check.js';
import { TINY_LORA, vowelsEnvironment, writeTinyModel } from './tiny-model.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-check-test-'));
const model = join(folder, 'model');
test.before(async () => void (await writeTinyModel(model)));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test('a sound configuration passes every check, and the sampled part of an episode is marked', async () => {
  const environment = vowelsEnvironment();
  const { checks, marked } = await checkRun({ model, environment, lora: TINY_LORA, maxNewTokens: 6 });
  assert.equal(
    checks.filter(({ ok }) => !ok),
    [],
  );
  assert.equal(
    checks.map(({ name }) => name),
    [
      'sampler and trainer agree',
      'KL at step 0 is 0',
      'the ratio at step 0 is 1',
      'learning rate 0 changes nothing',
      'an update changes the policy',
      'every adapter matrix gets a gradient',
      'the adapter is not a no-op',
      'a checkpoint goes on as it was',
    ],
  );
  assert.match(checks[5]!.detail, /^28 matrices$/);
  assert.match(marked, /<\|start\|>assistant\n\[[\s\S]+\]$/);
});

test('a model by itself passes, with and without a tokenizer', async () => {
  const bare = fileURLToPath(new URL('../fixtures/models/qwen3-tiny', import.meta.url));
  for (const folderOfModel of [model, bare]) {
    const checks = await checkModel({ model: folderOfModel });
    assert.is(checks.length, 8);
    assert.equal(
      checks.filter(({ ok }) => !ok),
      [],
    );
  }
});

test('a fault is found: sampler log-probs that are not those of the trainer, and an optimizer that does not step', async () => {
  const policy = await Policy.load(model, { lora: TINY_LORA });
  const session = await policy.open([5, 6, 7]);
  await session.generate({ maxNewTokens: 6, stopIds: [], seed: 1 });
  const row = session.row();
  session.close();
  const lame = new Proxy(policy, {
    get(target, key) {
      if (key === 'update') {
        return (options: Parameters<Policy['update']>[0]) =>
          target.update({ ...options, optimizer: { ...options.optimizer, learningRate: 0 } });
      }
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const shifted = { ...row, samplerLogprobs: row.samplerLogprobs.map((value) => value - 0.01) };
  const checks = await selfCheck({
    policy: lame,
    reload: (resume) => Policy.load(model, { resume }),
    rows: [shifted],
    train: 'lora',
    dtype: 'float32',
  });
  await policy.close();
  const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  for (const name of [
    'sampler and trainer agree',
    'an update changes the policy',
    'every adapter matrix gets a gradient',
    'the adapter is not a no-op',
  ]) {
    assert.ok(failed.includes(name), `${name} must fail; failed: ${failed.join(', ')}`);
  }
});

test.run();
