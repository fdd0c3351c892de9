/**
 * The demo over several seeds: what it learns and how long it takes, after setup.
 *
 *   npx tsx bench/demo.ts [SEED ...]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EvaluationRecord, StepMetrics } from '../lib/index.js';

const cli = fileURLToPath(new URL('../bin/cli.ts', import.meta.url));
const seeds = process.argv.slice(2).map(Number);
const percent = (value: number | null | undefined) => (typeof value === 'number' ? `${(100 * value).toFixed(1)}` : '-');

function run(seed: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-demo-'));
  const output = join(folder, 'run');
  const began = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', cli, 'train', '--quiet', '--seed', String(seed), '--output', output],
    { encoding: 'utf8' },
  );
  const seconds = (performance.now() - began) / 1000;
  if (status !== 0) throw new Error(stderr);
  const lines = <T>(name: string) =>
    readFileSync(join(output, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as T);
  const evaluations = lines<EvaluationRecord>('evaluations.jsonl').filter(({ mode }) => mode === 'multi-tool');
  const metrics = lines<StepMetrics>('metrics.jsonl');
  const [first, last] = [evaluations[0]!, evaluations.at(-1)!];
  const highest = Math.max(...metrics.map((line) => line.search_rate_unneeded ?? 0));
  const cells = [
    seed,
    `${percent(first.pass_rate)} → ${percent(last.pass_rate)}`,
    `${percent(first.search_rate_needed)} → ${percent(last.search_rate_needed)}`,
    `${percent(first.search_rate_unneeded)} → ${percent(highest)} → ${percent(last.search_rate_unneeded)}`,
    last.n,
    seconds.toFixed(0),
  ];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
  rmSync(folder, { recursive: true });
}

process.stdout.write(`${cpus().length} x ${cpus()[0]?.model}\n\n`);
process.stdout.write(
  '| seed | pass, % | searches where needed, % | where not: start, highest step, end, % | n | s |\n',
);
process.stdout.write('|---|---|---|---|---|---|\n');
for (const seed of seeds.length > 0 ? seeds : [42, 1, 2]) run(seed);
