import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = join(import.meta.dirname, '..', '..');
const probe = join(mkdtempSync(join(tmpdir(), 'grpo-threads-')), 'probe');

test.before(() => {
  const sources = ['test/lifecycle/threads-probe.cc', 'native/binding/threads.cc'];
  const includes = ['-Inative', '-Inode_modules/node-api-headers/include'];
  execFileSync(
    process.env['CXX'] ?? 'c++',
    ['-std=c++20', '-DNAPI_VERSION=8', ...includes, ...sources, '-pthread', '-o', probe],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
});

function leave(mode: string): { code: number | null; lines: string[]; ms: number } {
  const started = performance.now();
  const { status, stdout } = spawnSync(probe, [mode], { encoding: 'utf8', timeout: 20_000 });
  return { code: status, lines: stdout.trim().split('\n'), ms: performance.now() - started };
}

test('exit() waits for the threads, then destroys statics, and keeps its code', () => {
  const { code, lines, ms } = leave('exit');
  assert.is(code, 7);
  assert.equal(lines, ['thread back', 'statics destroyed']);
  assert.ok(ms < 1500, `${ms} ms`);
});

test('a thread that does not come back holds the process up for 2 s at most, the code is kept, no static is destroyed', () => {
  const { code, lines, ms } = leave('deaf');
  assert.is(code, 7);
  assert.equal(lines, ['thread back']);
  assert.ok(ms >= 1900 && ms < 3500, `${ms} ms`);
});

test('an environment ends its own threads only, and nobody waits twice for a deaf one', () => {
  const { code, lines, ms } = leave('environment');
  assert.is(code, 9);
  assert.equal(lines, ['hooks 2', 'thread back', 'left 1', 'environment gone']);
  assert.ok(ms >= 1900 && ms < 3500, `${ms} ms`);
});

test('destroying a thread object ends the thread and forgets it', () => {
  const { code, lines } = leave('destroy');
  assert.is(code, 0);
  assert.equal(lines, ['thread back', 'left 0', 'statics destroyed']);
});

test.run();
