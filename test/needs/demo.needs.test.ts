import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EvaluationRecord, StepMetrics } from '../../lib/run/index.js';
import { skipAloud } from '../harness.js';
import { removeFolder, train } from './run-demo.js';

if (spawnSync('bwrap', ['--version']).status !== 0) skipAloud('bubblewrap is not installed');
test.after(removeFolder);

test('with nothing given, a tiny model learns when to search, and its page and picture are there', () => {
  const { status, stderr, output, lines } = train('run', ['--eval-every', '0']);
  assert.is(status, 0, stderr);
  const evaluations = lines<EvaluationRecord>('evaluations.jsonl').filter(({ mode }) => mode === 'multi-tool');
  const [first, last] = [evaluations[0]!, evaluations.at(-1)!];
  assert.equal([first.split, first.step, first.n, last.n], ['unseen', 0, 128, 128]);
  assert.ok(first.pass_rate! <= 0.5, `pass ${first.pass_rate}`);
  assert.ok(last.pass_rate! >= 0.9, `pass ${last.pass_rate}`);
  assert.ok(last.search_rate_needed! >= 0.95, `search where needed ${last.search_rate_needed}`);
  assert.ok(last.search_rate_unneeded! <= 0.1, `search where not needed ${last.search_rate_unneeded}`);
  const metrics = lines<StepMetrics>('metrics.jsonl');
  const needless = metrics.map((line) => line.search_rate_unneeded!);
  assert.ok(Math.max(...needless) > 0.3, 'needless searches rise first');
  assert.ok(Math.max(...metrics.map((line) => line.sampler_trainer_gap!)) < 1e-5);
  for (const name of ['report.html', 'report.png']) assert.ok(statSync(join(output, name)).size > 10_000, name);
});

test.run();
