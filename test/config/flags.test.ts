import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { configurationPage } from '../../lib/config/docs-page.js';
import { configKeys, flagOptions, readFlags, resolveTrainConfig, trainSchema } from '../../lib/config/index.js';
import { nearestName } from '../../lib/known-keys.js';

test('every key is a flag in kebab case with dots', () => {
  const flags = Object.keys(flagOptions(trainSchema));
  for (const flag of ['prompts-per-step', 'loss.kl-coefficient', 'lora.target-modules', 'min-p', 'allow-unsandboxed'])
    assert.ok(flags.includes(flag), flag);
  assert.is(flags.length, configKeys(trainSchema).length);
  for (const key of configKeys(trainSchema)) {
    assert.ok(key.description.endsWith('.'), `${key.path} has a sentence`);
    assert.ok(key.defaultText !== '', `${key.path} says its default`);
  }
});

test('flags become a nested configuration of the right types', () => {
  const argv = {
    _: ['train'],
    'prompts-per-step': '2',
    promptsPerStep: '2',
    'loss.kl-coefficient': '0.05',
    'lora.target-modules': 'q_proj,o_proj',
    'optimizer.betas': '0.9,0.95',
    strict: true,
    model: '123',
  };
  const read = readFlags(trainSchema, argv);
  assert.equal(read, {
    promptsPerStep: 2,
    loss: { klCoefficient: 0.05 },
    lora: { targetModules: ['q_proj', 'o_proj'] },
    optimizer: { betas: [0.9, 0.95] },
    strict: true,
    model: '123',
  });
  assert.is(resolveTrainConfig(read).promptsPerStep, 2);
});

test('a flag that is no number, or given twice, is an error', () => {
  assert.throws(() => readFlags(trainSchema, { steps: 'ten' }), /--steps must be a number, but got "ten"/);
  assert.throws(() => readFlags(trainSchema, { steps: ['1', '2'] }), /--steps was given more than once/);
});

test('the nearest name is found across case and nesting, and nothing where nothing is near', () => {
  assert.is(nearestName('GROUPSIZE', ['groupSize', 'steps']), 'groupSize');
  assert.is(nearestName('rank', ['lora.rank', 'train']), 'lora.rank');
  assert.is(nearestName('zzzzzz', ['groupSize', 'steps']), undefined);
});

test('docs/configuration.md is what the schema says', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  assert.is(page, configurationPage(), 'stale: run npx tsx test/config/write-docs.ts');
});

test.run();
