import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { skipAloud } from '../harness.js';
import { loggedRun } from '../loggers/logged-run.js';

const SCRIPT = fileURLToPath(new URL('read_events.py', import.meta.url));
const python = process.env.GRPO_TEST_PYTHON ?? 'python3';
if (spawnSync(python, ['-c', 'import tensorboard']).status !== 0) {
  skipAloud(`TensorBoard is not installed for ${python}; name a Python that has it in GRPO_TEST_PYTHON`);
}

interface Read {
  version: string;
  scalars: Record<string, [number, number, number][]>;
  texts: Record<string, [number, string][]>;
}

function read(folder: string): Read {
  const run = spawnSync(python, [SCRIPT, folder], { encoding: 'utf8' });
  assert.is(run.status, 0, run.stderr);
  return JSON.parse(run.stdout) as Read;
}

test('TensorBoard reads every step of a resumed run once, with its values, times and samples', async () => {
  const output = join(mkdtempSync(join(tmpdir(), 'grpo-tensorboard-')), 'run');
  assert.equal(await loggedRun(output, ['tensorboard'], 3), []);
  const { scalars, texts, version } = read(join(output, 'tensorboard'));
  console.log(`TensorBoard ${version}`);
  const metrics = readFileSync(join(output, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { step: number; reward_mean: number });
  const rewards = scalars['train/reward_mean']!;
  assert.equal(
    rewards.map(([step, value]) => [step, value]),
    metrics.map(({ step, reward_mean }) => [step, Math.fround(reward_mean)]),
  );
  const times = rewards.map(([, , time]) => time);
  assert.equal(
    times,
    [...times].sort((a, b) => a - b),
  );
  assert.ok(Math.abs(times.at(-1)! - Date.now() / 1000) < 600);
  assert.equal(
    scalars['eval/multi-tool/reward_mean']!.map(([step]) => step),
    [0, 2, 4, 6],
  );
  const samples = texts['samples']!;
  // The step that was gone on from keeps its numbers only; all episodes are in trajectories.jsonl.
  assert.equal(
    samples.map(([step]) => step),
    [1, 2, 4, 5, 6],
  );
  assert.match(samples[0]![1], /^\*\*t\d+\*\*, reward 1\n\n~~~~~~\n<submit>w\d<\/submit>/);
  rmSync(join(output, '..'), { recursive: true });
});

test.run();
