import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EvaluationRecord, StepMetrics } from '../../lib/run/index.js';
import { skipAloud } from '../harness.js';
import { folder, removeFolder, run, train } from './run-demo.js';

if (spawnSync('bwrap', ['--version']).status !== 0) skipAloud('bubblewrap is not installed');
test.after(removeFolder);

test('a run of the demo goes on, whatever folders are called', () => {
  mkdirSync(join(folder, 'demo'));
  const sizes = ['--prompts-per-step', '2', '--group-size', '4', '--eval-modes', 'multi-tool', '--eval-every', '0'];
  const first = train('stopped', [...sizes, '--steps', '1'], {}, folder);
  assert.is(first.status, 0, first.stderr);
  const second = run(['train', '--resume', 'stopped', '--steps', '2', '--override'], {}, folder);
  assert.is(second.status, 0, second.stderr);
  assert.equal(
    first.lines<StepMetrics>('metrics.jsonl').map(({ step }) => step),
    [1, 2],
  );
});

test('without bubblewrap and containers the demo falls back to Pyodide, and says so', () => {
  const sizes = ['--steps', '1', '--prompts-per-step', '2', '--group-size', '4', '--eval-modes', 'multi-tool'];
  const { status, stdout, stderr, lines } = train('pyodide', [...sizes, '--eval-every', '0'], { PATH: folder });
  assert.is(status, 0, stderr);
  assert.match(stdout, /run in Pyodide/);
  const [start] = lines<EvaluationRecord>('evaluations.jsonl');
  assert.equal([start!.n, start!.episodes_invalid], [128, 0]);
  assert.ok(start!.pass_rate! > 0.25, 'who searched has passed');
  assert.is(lines<StepMetrics>('metrics.jsonl').length, 1);
});

test("tasks of one's own do not fall back", () => {
  const tasks = fileURLToPath(new URL('../../examples/mbpp-sample.jsonl', import.meta.url));
  const { status, stderr, output } = train('own', ['--model', 'embedded:demo', '--tasks', tasks], { PATH: folder });
  assert.is(status, 1);
  assert.match(stderr, /bubblewrap was not found; .*apt-get install/);
  assert.not.ok(existsSync(output));
});

test.run();
