import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EvaluationRecord, StepMetrics } from '../../lib/run/index.js';
import { skipAloud } from '../harness.js';

if (spawnSync('bwrap', ['--version']).status !== 0) skipAloud('bubblewrap is not installed');

const folder = mkdtempSync(join(tmpdir(), 'grpo-demo-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const cli = fileURLToPath(new URL('../../bin/cli.ts', import.meta.url));

function run(args: string[], environment: Record<string, string>, cwd?: string) {
  const env = { ...process.env, ...environment };
  const tsx = import.meta.resolve('tsx');
  return spawnSync(process.execPath, ['--import', tsx, cli, ...args], { encoding: 'utf8', env, cwd });
}

function train(name: string, args: string[], environment: Record<string, string> = {}, cwd?: string) {
  const output = join(folder, name);
  const { status, stdout, stderr } = run(['train', '--output', output, ...args], environment, cwd);
  const lines = <T>(file: string) =>
    readFileSync(join(output, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as T);
  return { status, stdout, stderr, output, lines };
}

test('with nothing given, a tiny model learns when to search, and its page and picture are there', () => {
  const { status, stderr, output, lines } = train('run', []);
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
