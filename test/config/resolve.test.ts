import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { orDemo, resolveEvaluateConfig, resolveTrainConfig } from '../../lib/config/index.js';
import type { TrainInput } from '../../lib/config/index.js';

const fails = (input: unknown, pattern: RegExp) => {
  try {
    resolveTrainConfig(input as TrainInput);
  } catch (error) {
    assert.is((error as { code?: string }).code, 'INVALID_CONFIG');
    assert.match((error as Error).message, pattern);
    return;
  }
  assert.unreachable(`no error like ${pattern}`);
};

test('defaults are those of the documentation', () => {
  const config = resolveTrainConfig({});
  const { steps, promptsPerStep, groupSize, maxNewTokens, maxSubmissions, temperature, topP, topK, minP, seed } =
    config;
  assert.equal(
    [steps, promptsPerStep, groupSize, maxNewTokens, maxSubmissions, temperature, topP, topK, minP, seed],
    [100, 4, 8, 1024, 3, 1, 1, 0, 0, 42],
  );
  assert.equal(config.advantage, { scale: 'group', epsilon: 1e-4 });
  assert.equal(config.optimizer, {
    learningRate: 5e-6,
    betas: [0.9, 0.999],
    epsilon: 1e-8,
    weightDecay: 0,
    maxGradNorm: 1,
  });
  assert.equal([config.schedule, config.warmupSteps, config.evalEvery, config.evalSamples], ['constant', 0, 20, 1]);
  assert.equal([config.constantGroups, config.train, config.environment], ['drop', 'lora', 'code-agent']);
});

test('flags override the file, the file overrides the preset, nested keys one by one', () => {
  const file: TrainInput = { preset: 'tutorial', optimizer: { weightDecay: 0.1 }, temperature: 0.9 };
  const config = resolveTrainConfig(file, { temperature: 0.8, optimizer: { learningRate: 1e-3 } });
  assert.is(config.temperature, 0.8);
  assert.is(config.topP, 0.95, 'from the preset');
  assert.is(config.groupSize, 4);
  assert.is(config.optimizer.learningRate, 1e-3);
  assert.is(config.optimizer.weightDecay, 0.1);
  assert.is(config.optimizer.maxGradNorm, 1);
});

test('the tutorial preset is the tutorial', () => {
  const config = resolveTrainConfig({ preset: 'tutorial' });
  assert.equal(config.lora, { rank: 16, alpha: 32, dropout: 0.05, targetModules: ['q_proj', 'v_proj'] });
  assert.equal(
    [config.groupSize, config.loss.klCoefficient, config.temperature, config.topP, config.maxNewTokens],
    [4, 0.05, 0.7, 0.95, 1024],
  );
  assert.is((config.steps * config.promptsPerStep) / config.taskLimit!, 3, 'three epochs');
  assert.is(config.maxSubmissions, 0, 'any number');
  assert.is(resolveTrainConfig({ preset: 'tutorial', adapter: 'x' }).lora.rank, undefined);
});

test('an unknown key names the nearest one', () => {
  fails({ groupsize: 4 }, /unknown key groupsize; did you mean groupSize\?/);
  fails({ loss: { klCoeficient: 1 } }, /unknown key loss\.klCoeficient; did you mean loss\.klCoefficient\?/);
  fails({ klCoefficient: 1 }, /unknown key klCoefficient; did you mean loss\.klCoefficient\?/);
  fails({ kl_beta: 0.1 }, /unknown key kl_beta/);
});

test('wrong types and values out of range name the key', () => {
  fails({ steps: 'many' }, /steps must be a whole number >= 0, but got "many"/);
  fails({ lora: 3 }, /lora must be an object of keys and values, but got 3/);
  fails({ loss: { policy: 'clip', clipLow: -1 } }, /loss\.clipLow must be a number >= 0, but got -1/);
});

test('keys that would do nothing are errors that say what they need', () => {
  fails({ loss: { cispoMax: 3 } }, /loss\.cispoMax does not apply here: it needs loss\.policy cispo/);
  fails({ loss: { horizon: 100 } }, /loss\.horizon does not apply here: it needs loss\.aggregation constant/);
  fails({ loss: { aggregation: 'constant' } }, /loss\.aggregation constant needs loss\.horizon/);
  fails({ loss: { kl: 'k2' } }, /loss\.kl does not apply here: it needs loss\.klCoefficient above 0/);
  fails({ loss: { policy: 'sapo', clipLow: 0.1 } }, /loss\.clipLow does not apply here/);
  fails({ loss: { policy: 'cispo' } }, /loss\.policy cispo needs loss\.cispoMax/);
  fails({ loss: { correction: { high: 3 } } }, /loss\.correction\.high does not apply here/);
  fails({ reference: 'base' }, /reference does not apply here/);
  fails({ advantage: { scale: 'none', epsilon: 1 } }, /advantage\.epsilon does not apply here/);
  fails({ adapter: 'folder', lora: { rank: 8 } }, /lora\.rank does not apply here: .*adapter/);
  fails({ sandbox: 'bubblewrap', allowUnsandboxed: true }, /allowUnsandboxed does not apply here/);
  fails(
    { sandbox: 'pyodide', sandboxImage: 'x' },
    /sandboxImage does not apply here: it needs sandbox container, or auto/,
  );
  fails({ sandbox: 'bubblewrap', sandboxEngine: 'podman' }, /sandboxEngine does not apply here/);
});

test('the same keys are accepted where they apply', () => {
  resolveTrainConfig({ loss: { policy: 'cispo', cispoMax: 3 } });
  resolveTrainConfig({ loss: { policy: 'cispo', cispoRelative: true, clipLow: 0.1, clipHigh: 0.2 } });
  resolveTrainConfig({ loss: { aggregation: 'constant', horizon: 512 } });
  resolveTrainConfig({ loss: { klCoefficient: 0.1, kl: 'k2', klImportanceCorrected: true }, reference: 'base' });
  resolveTrainConfig({ allowUnsandboxed: true });
  resolveTrainConfig({ preset: 'trl' });
});

test('k above the samples is refused', () => {
  assert.is(resolveEvaluateConfig({ samples: 4, k: 2 }).temperature, 0);
  assert.throws(() => resolveEvaluateConfig({ samples: 2, k: 4 }), /k 4 is larger than samples 2/);
});

test('where nothing says what to train, it is the demo; anything that does leaves it out', () => {
  assert.is(orDemo({ steps: 3, output: 'run' }).preset, 'demo');
  for (const given of [
    { model: 'm' },
    { tasks: 't' },
    { environment: 'e.js' },
    { preset: 'trl' as const },
    { adapter: 'a' },
  ])
    assert.equal(orDemo(given), given);
  const config = resolveTrainConfig(orDemo({ steps: 3 }));
  assert.equal([config.model, config.environment, config.steps, config.searchCost], ['embedded:demo', 'demo', 3, 0.05]);
});

test('environment demo brings its model, and another one may be given', () => {
  assert.is(resolveEvaluateConfig({ environment: 'demo' }).model, 'embedded:demo');
  assert.is(resolveTrainConfig({ environment: 'demo', model: 'mine' }).model, 'mine');
  assert.is(resolveTrainConfig({ environment: 'code-agent' }).model, undefined);
});

test.run();
