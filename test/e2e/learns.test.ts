import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { quietReporter } from '../../lib/run/index.js';
import type { StepMetrics } from '../../lib/run/index.js';
import { train } from '../../lib/trainer/index.js';
import { vowelsEnvironment, TINY_LORA, writeTinyModel } from './tiny-model.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-learns-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('thirty steps with the real core raise the reward of a random model', async () => {
  const model = await writeTinyModel(join(folder, 'model'));
  const result = await train(
    {
      model,
      environment: vowelsEnvironment(),
      steps: 30,
      promptsPerStep: 2,
      groupSize: 16,
      maxNewTokens: 12,
      evalEvery: 0,
      lora: TINY_LORA,
      optimizer: { learningRate: 1e-2 },
      output: join(folder, 'run'),
    },
    { reporter: quietReporter },
  );
  assert.is(result.steps, 30);
  const metrics = readFileSync(join(folder, 'run', 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as StepMetrics);
  const rewards = metrics.map((line) => line.reward_mean as number);
  const [first, last] = [mean(rewards.slice(0, 5)), mean(rewards.slice(-5))];
  assert.ok(last > first + 0.2, `reward ${first.toFixed(3)} -> ${last.toFixed(3)}`);
  assert.ok(metrics.every((line) => line.skipped === null && line.grad_norm! > 0 && line.tokens_trained > 0));
  assert.ok(Math.max(...metrics.map((line) => line.sampler_trainer_gap!)) < 1e-5, 'sampler and trainer agree');
  const [before, after] = result.evaluations;
  assert.ok(after!.reward_mean! > before!.reward_mean! + 0.2, 'held-out prompts gain too');
});

test.run();
