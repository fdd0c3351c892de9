// Runs every test file in a process of its own with a deadline, adds the counts up and ends with "N passed, N failed".
// usage: node test/run.js [part of a path ...]      GRPO_TEST_TIMEOUT_S: seconds a file may take (default 300)
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';

const root = import.meta.dirname;
const timeoutMs = 1000 * Number(process.env.GRPO_TEST_TIMEOUT_S ?? 300);
const wanted = process.argv.slice(2);

const files = readdirSync(root, { recursive: true })
  .map((name) => join(root, String(name)))
  .filter((path) => path.endsWith('.test.ts') && !path.includes('fixtures'))
  .filter((path) => wanted.length === 0 || wanted.some((part) => relative(process.cwd(), path).includes(part)))
  .sort();

/** uvu prints "Total: n" and "Passed: n" at the end of each suite. */
const sum = (output, label) =>
  [...output.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'gm'))].reduce(
    (total, match) => total + Number(match[1]),
    0,
  );

function run(path) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--import', 'tsx', path], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, NO_COLOR: '1' },
    });
    let output = '';
    let late = false;
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const timer = setTimeout(() => {
      late = true;
      process.kill(-child.pid, 'SIGKILL');
    }, timeoutMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      const plain = output.replace(/\x1b\[[0-9;]*m/g, '');
      const total = sum(plain, 'Total');
      const passed = sum(plain, 'Passed');
      const skipped = /^SKIPPED: (.*)$/m.exec(plain)?.[1];
      // A file that ends badly, late or without having run anything has failed, whatever it printed.
      const broken = late || code !== 0 || (total === 0 && skipped === undefined);
      resolve({
        path,
        plain,
        passed,
        failed: Math.max(total - passed, broken && total === passed ? 1 : 0),
        skipped,
        late,
      });
    });
  });
}

const results = [];
const queue = [...files];
async function worker() {
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const started = Date.now();
    const result = await run(path);
    results.push(result);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    const state = result.failed > 0 ? 'FAILED' : result.skipped !== undefined ? 'skipped' : 'ok';
    console.log(`${state.padEnd(8)} ${relative(process.cwd(), path)} (${result.passed} passed, ${seconds} s)`);
    if (result.late) console.log(`  took over ${timeoutMs / 1000} s`);
    if (result.skipped !== undefined) console.log(`  SKIPPED: ${result.skipped}`);
    if (result.failed > 0) console.log(result.plain.replace(/^/gm, '  '));
  }
}
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));

const count = (of) => results.reduce((total, result) => total + of(result), 0);
const skipped = count((result) => (result.skipped === undefined ? 0 : 1));
const failed = count((result) => result.failed);
if (files.length === 0) console.log('no test file matches');
console.log(`${count((result) => result.passed)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 || files.length === 0 ? 1 : 0;
