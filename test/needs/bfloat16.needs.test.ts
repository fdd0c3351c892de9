import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/policy/index.js';
import { skipAloud } from '../harness.js';
import { difference } from '../numeric/fixtures.js';

const python = process.env['GRPO_TEST_PYTHON'] ?? skipAloud('GRPO_TEST_PYTHON names no Python with transformers');
const model = join(homedir(), '.cache/grpo-native/models/SmolLM2-135M-Instruct');
if (!existsSync(join(model, 'model.safetensors'))) skipAloud(`SmolLM2-135M-Instruct is not in ${model}`);

interface Reference {
  float32: number[][];
  bfloat16: number[][];
  cached_gap: number;
}

test('SmolLM2 in bfloat16 is at most twice as far from float32 as transformers, and samples as it scores', async () => {
  const policy = await Policy.load(model, { dtype: 'bfloat16', train: 'none' });
  const tokenizer = policy.tokenizer ?? assert.unreachable('SmolLM2 has a tokenizer');
  const prompt = tokenizer?.applyChatTemplate(
    [{ role: 'user', content: 'Explain how a binary search works, step by step.' }],
    { addGenerationPrompt: true },
  ).ids as Int32Array;
  const session = await policy.open(prompt);
  await session.generate({ maxNewTokens: prompt.length, temperature: 1, seed: 5, stopIds: [] });
  const sampled = session.row();
  const texts = [
    readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8').slice(0, 1200),
    'def add(a, b):\n    return a + b\n',
  ];
  const rows = [Array.from(sampled.ids), ...texts.map((text) => Array.from(tokenizer?.encode(text) as Int32Array))];

  const folder = mkdtempSync(join(tmpdir(), 'grpo-bf16-'));
  writeFileSync(join(folder, 'rows.json'), JSON.stringify(rows));
  const script = join(import.meta.dirname, '../fixtures/transformers_logprobs.py');
  execFileSync(python, [script, model, join(folder, 'rows.json'), join(folder, 'out.json')], { stdio: 'pipe' });
  const reference = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')) as Reference;

  const ours = await policy.logprobs(rows, { support: 'all' });
  const own = difference(ours, reference.float32).mean;
  const theirs = difference(reference.bfloat16, reference.float32).mean;
  const start = prompt.length - 1;
  const gap = difference([sampled.samplerLogprobs.slice(start)], [(ours[0] as Float32Array).slice(start)]).mean;
  console.log(`mean |d log p| to float32: ${own.toFixed(5)}, transformers bfloat16 ${theirs.toFixed(5)}`);
  console.log(`sampler against trainer: ${gap.toFixed(5)}, transformers with cache ${reference.cached_gap.toFixed(5)}`);
  assert.ok(own <= 2 * theirs, `${own} against ${theirs}`);
  assert.ok(gap <= reference.cached_gap, `${gap} against ${reference.cached_gap}`);
  await policy.close();

  const exact = await Policy.load(model, { dtype: 'float32', train: 'none' });
  const wide = difference(await exact.logprobs(rows, { support: 'all' }), reference.float32);
  console.log(`float32: mean ${wide.mean.toExponential(2)}, max ${wide.max.toExponential(2)}`);
  assert.ok(wide.mean < 1e-5 && wide.max < 1e-3, `mean ${wide.mean}, max ${wide.max}`);
  await exact.close();
});

test.run();
