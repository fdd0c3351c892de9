import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { bubblewrapLaunch, findBubblewrap } from '../../lib/sandbox/bubblewrap.js';
import { findInterpreter } from '../../lib/sandbox/interpreter.js';
import { runJob } from '../../lib/sandbox/jobs.js';
import { Pool } from '../../lib/sandbox/pool.js';
import { Sandbox } from '../../lib/sandbox/index.js';
import type { RunOptions, RunResult } from '../../lib/sandbox/types.js';
import { skipAloud } from '../harness.js';
import { hostilePrograms } from './hostile-programs.js';

let sandbox: Sandbox;
try {
  sandbox = await Sandbox.open();
} catch (error) {
  skipAloud((error as Error).message);
}
process.env.SANDBOX_TEST_SECRET = 'sesame';
const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

/** Supervisors and programs of this process that are still there. */
function remaining(owner = process.pid): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(`"owner":${owner},`);
    } catch {
      return false; // ended meanwhile
    }
  }).length;
}

const launch = bubblewrapLaunch(await findBubblewrap(), await findInterpreter('python3'));
const cold = new Pool(() => launch, false);

async function runCold(options: RunOptions): Promise<RunResult> {
  const answer = await cold.run(runJob(options, 64), new AbortController().signal);
  assert.ok('value' in answer, JSON.stringify(answer));
  return (answer as { value: unknown }).value as RunResult;
}

/** A hundred programs, several at a time: what a hundredth of them could do, some of them do. */
async function hundredTimes(code: string): Promise<string[]> {
  const results = await Promise.all(Array.from({ length: 100 }, () => sandbox.run({ code })));
  return [...new Set(results.map(({ stdout }) => stdout))];
}

const watched = suite('the process that holds the namespaces of a program');
watched('can never be looked into, also while the next one is made', async () => {
  const code = `import os
for look in (lambda: os.listdir('/proc/1/fd'), lambda: open('/proc/1/mem', 'rb'), lambda: open('/proc/1/environ').read(),
             lambda: os.listdir('/proc/1/root')):
    try:
        print(look())
    except OSError:
        pass
print('end')`;
  assert.equal(await hundredTimes(code), ['end\n']);
});
watched.run();

for (const [name, run] of [
  ['a warm interpreter', (options: RunOptions) => sandbox.run(options)],
  ['an interpreter of its own', runCold],
] as const) {
  const test = suite(`hostile programs in ${name}`);
  for (const hostile of hostilePrograms(port)) {
    test(`a program that ${hostile.name} harms nobody`, async () => {
      const wanted = [hostile.status].flat();
      const timeoutMs = wanted.includes('timeout') ? 1500 : 20_000;
      const result = await run({ code: hostile.code, timeoutMs, memoryMb: 256 });
      assert.ok(wanted.includes(result.status), `${result.status} ${result.stderr.slice(-500)}`);
      if (hostile.stdout) assert.match(result.stdout, hostile.stdout);
      if (result.status === 'timeout') assert.ok(result.wallMs < 6000, `${result.wallMs} ms`);
    });
  }
  test.run();
}

const test = suite('bubblewrap sandbox');

test('a program has a user id of its own, an empty folder and a clean environment', async () => {
  const { stdout } = await sandbox.run({
    code: 'import os, sys\nprint(os.getuid(), os.getcwd(), os.listdir("."), sorted(k for k in os.environ if "SECRET" in k or "NODE" in k), os.environ["PYTHONHASHSEED"])',
  });
  assert.is(stdout, "1000 /tmp/program ['main.py'] [] 0\n");
});

test('files lie beside the program and standard input is read to its end', async () => {
  const { stdout, exitCode, status } = await sandbox.run({
    code: 'import sys\nfrom data import lib\nprint(lib.x, open("raw.bin", "rb").read(), len(sys.stdin.read()))\nsys.exit(3)',
    files: { 'data/lib.py': 'x = 7', 'raw.bin': new Uint8Array([0, 255]) },
    stdin: 'y'.repeat(300_000),
  });
  assert.equal([stdout, exitCode, status], ["7 b'\\x00\\xff' 300000\n", 3, 'error']);
});

test('files, input and output of 40 MB take seconds, and no minutes', async () => {
  const [text, bytes] = ['x'.repeat(4e7), 4e7];
  const read = await sandbox.run({
    code: 'import os, sys\nprint(os.path.getsize("a"), len(sys.stdin.read()))',
    files: { a: text },
    stdin: text,
  });
  assert.equal([read.status, read.stdout], ['ok', `${bytes} ${bytes}\n`]);
  const written = await sandbox.run({ code: `print("x" * ${bytes})`, outputBytes: 2 ** 26 });
  assert.equal([written.status, written.stdout.length], ['ok', bytes + 1]);
});

test('a program that could not be started is infra, with the reason as Python says it', async () => {
  const files = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`f${index}`, '']));
  const { status, stderr } = await sandbox.run({ code: '', files });
  assert.is(status, 'infra');
  assert.match(stderr, /^the program could not be started in the sandbox: OSError: \[Errno 28\]/);
});

test('threads are limited by their number, not by the address space of their heaps', async () => {
  const code = `import threading, time
def work(): bytearray(100_000); time.sleep(60)
count = 0
try:
  while True: threading.Thread(target=work, daemon=True).start(); count += 1
except RuntimeError: print(count >= 60)`;
  assert.is((await sandbox.run({ code })).stdout, 'True\n');
});

test('output is cut at its limit and the program is killed', async () => {
  const result = await sandbox.run({ code: 'while True: print("abc")', outputBytes: 100 });
  assert.equal([result.status, result.exitCode, result.stdout.length], ['output', null, 100]);
});

test('a traceback shows the program and nothing of the sandbox', async () => {
  const { stderr } = await sandbox.run({ code: 'def f():\n    return 1 / 0\nf()' });
  assert.is((stderr.match(/File /g) ?? []).length, 2);
  assert.match(stderr, /^Traceback[^]*main.py", line 3[^]*ZeroDivisionError: division by zero\n$/);
});

test('children of multiprocessing and subprocess work', async () => {
  const code =
    'import multiprocessing, subprocess, sys\ndef f(x): return x * x\nif __name__ == "__main__":\n  with multiprocessing.Pool(2) as p: print(p.map(f, [1, 2, 3]))\n  print(subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, text=True).stdout)';
  assert.is((await sandbox.run({ code })).stdout, '[1, 4, 9]\n5\n\n');
});

test('two programs draw different random numbers', async () => {
  const code = 'import random\nprint(random.random())';
  assert.is.not((await sandbox.run({ code })).stdout, (await sandbox.run({ code })).stdout);
});

test('copies of a warm interpreter start threads, pools and loops as a new one does', async () => {
  const code = `import asyncio, concurrent.futures as pools, logging, secrets, tempfile, threading, uuid
thread = threading.Thread(target=lambda: print("thread"))
thread.start(); thread.join()
with pools.ThreadPoolExecutor(2) as pool: print(list(pool.map(abs, [-1, 2])))
with pools.ProcessPoolExecutor(2) as pool: print(list(pool.map(abs, [-3, 4])))
print(asyncio.run(asyncio.sleep(0, 5)), threading.active_count())
logging.getLogger().warning("logged")
tempfile.NamedTemporaryFile().close()`;
  const { stdout, stderr } = await sandbox.run({ code });
  assert.equal([stdout, stderr], ['thread\n[1, 2]\n[3, 4]\n5 1\n', 'logged\n']);
});

test('tests that mock get the real unittest.mock, whatever the solution did to it', async () => {
  const result = await sandbox.test({
    solution: 'import sys, types\nsys.modules["unittest.mock"] = types.ModuleType("unittest.mock")\ndef f(): return 1',
    test: 'import unittest\nclass T(unittest.TestCase):\n  def test_f(self):\n    from unittest import mock\n    self.assertEqual(f(), 1)',
  });
  assert.is(result.status, 'fail');
  assert.match(result.failures[0]!.message, /replaced unittest\.mock/);
});

test('an aborted program is killed at once', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 300);
  const began = performance.now();
  try {
    await sandbox.run({ code: 'while True: pass', timeoutMs: 60_000, signal: controller.signal });
    assert.unreachable();
  } catch (error) {
    assert.is((error as GrpoError).code, 'ABORTED');
  }
  assert.ok(performance.now() - began < 10_000);
});

test('supervisors can be told by their owner', async () => {
  await sandbox.run({ code: '' });
  assert.ok(remaining() > 0);
});

test('a sandbox that nobody closed does not keep a finished program from ending', () => {
  const entry = pathToFileURL(join(import.meta.dirname, '../../lib/sandbox/index.ts')).href;
  for (const backend of ['bubblewrap', 'process']) {
    const program = `import { Sandbox } from '${entry}';
const sandbox = await Sandbox.open({ backend: '${backend}', allowUnsandboxed: true });
const runs = await Promise.all(Array.from({ length: 40 }, () => sandbox.run({ code: 'print(1)' })));
console.log(process.pid, runs.filter(({ stdout }) => stdout === '1\\n').length);`;
    const options = { encoding: 'utf8', timeout: 60_000 } as const;
    const ended = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], options);
    assert.equal([ended.status, ended.stderr], [0, '']);
    assert.match(ended.stdout, /^\d+ 40\n$/);
    const left = () => remaining(Number.parseInt(ended.stdout));
    for (let tries = 0; tries < 100 && left() > 0; tries++) spawnSync('sleep', ['0.02']);
    assert.is(left(), 0);
  }
});

test('closing kills what runs and leaves no process behind', async () => {
  const running = sandbox.run({ code: 'while True: pass', timeoutMs: 60_000 }).catch((error: GrpoError) => error.code);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await sandbox.close();
  await cold.close();
  server.close();
  assert.is(await running, 'ABORTED');
  for (let tries = 0; tries < 100 && remaining() > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is(remaining(), 0);
  try {
    await sandbox.run({ code: '' });
    assert.unreachable();
  } catch (error) {
    assert.is((error as GrpoError).code, 'CLOSED');
  }
});

test.run();
