import { createRequire } from 'node:module';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Sandbox } from '../../lib/sandbox/index.js';
import { skipAloud } from '../harness.js';
import { CHEATS, RIGHT, TESTS } from './verdict-cases.js';

try {
  createRequire(import.meta.url).resolve('pyodide/package.json');
} catch {
  skipAloud('the npm package pyodide is missing: npm install pyodide');
}
process.env.SANDBOX_TEST_SECRET = 'sesame';
const sandbox = await Sandbox.open({ backend: 'pyodide' });

test('a program has its files, its input, a clean environment and an exit code', async () => {
  const { stdout, exitCode, status } = await sandbox.run({
    code: 'import os, sys\nfrom data import lib\nprint(lib.x, sys.stdin.read(), os.getcwd(), "sesame" in str(os.environ), os.environ["HOME"])\nsys.exit(3)',
    files: { 'data/lib.py': 'x = 7' },
    stdin: 'hello',
  });
  assert.equal([stdout, exitCode, status], ['7 hello /tmp/program False /tmp\n', 3, 'error']);
});

test('time, memory and output are limited', async () => {
  const status = async (code: string, timeoutMs = 20_000) =>
    (await sandbox.run({ code, timeoutMs, memoryMb: 100, outputBytes: 1000 })).status;
  assert.is(await status('while True: pass', 1000), 'timeout');
  assert.is(await status('x = []\nwhile True: x.append(bytearray(1 << 20))'), 'memory');
  assert.is(await status('while True: print("x" * 100)'), 'output');
});

test('what Python finds of JavaScript and of the machine is little', async () => {
  const code = `import os
for attempt in ('import js; js.fetch', 'import js; js.process', 'import pyodide_js', 'import pyodide.code; pyodide.code.run_js("1")', 'os.listdir("/root")', 'os.listdir("/home/..//usr")', 'os.fork()', '__import__("subprocess").run(["true"])'):
    try:
        exec(attempt)
        print('DONE', attempt)
    except Exception as error:
        pass
print('end')`;
  const result = await sandbox.run({ code });
  assert.equal([result.status, result.stdout], ['ok', 'end\n'], result.stderr);
});

test('a package that is missing is no fault of the program', async () => {
  const run = await sandbox.run({ code: 'import numpy as np' });
  assert.is(run.status, 'infra');
  assert.match(run.stderr, /no module numpy/);
  const result = await sandbox.test({ solution: RIGHT, test: 'import pandas\nassert task_func(1) == 2' });
  assert.is(result.status, 'infra');
  assert.match(result.failures[0]?.message ?? '', /no module pandas/);
  assert.is((await sandbox.run({ code: 'import no_such_module' })).status, 'error');
});

for (const [style, source] of Object.entries(TESTS)) {
  test(`tests of style ${style} give the verdicts of the other backends`, async () => {
    const judge = (solution: string) => sandbox.test({ solution, test: source, entryPoint: 'task_func' });
    const right = await judge(RIGHT);
    assert.equal([right.status, right.failures], ['pass', []]);
    for (const name of ['returns a wrong value', 'exits hard when called', 'patches TestCase']) {
      assert.is((await judge(CHEATS[name]!)).status, 'fail', name);
    }
  });
}

/** A sandbox whose processes are kept, closed after. */
async function withKept(use: (kept: Sandbox) => Promise<void>): Promise<void> {
  const kept = await Sandbox.open({ backend: 'pyodide', reuse: true });
  try {
    await use(kept);
  } finally {
    await kept.close();
  }
}

test('in a process that is kept, nothing of a program is left for the next', async () => {
  await withKept(async (kept) => {
    const leave = `import builtins, json, os, sys, unittest
sys.left = builtins.left = True
json.dumps = None
unittest.TestCase.assertEqual = lambda *_: None
open('/tmp/left', 'w').write('x')
open('left', 'w').write('x')
os.environ['LEFT'] = '1'
held = os.open('/tmp/held', os.O_CREAT | os.O_WRONLY)
print(held)`;
    const look = `import builtins, json, os, sys, unittest
print(hasattr(sys, 'left'), hasattr(builtins, 'left'), json.dumps(1), unittest.TestCase.assertEqual.__name__,
      os.listdir('/tmp'), os.listdir('.'), 'LEFT' in os.environ)`;
    const first = await kept.run({ code: leave });
    assert.is(first.status, 'ok', first.stderr);
    assert.is((await kept.run({ code: look })).stdout, "False False 1 assertEqual ['program'] ['main.py'] False\n");
    assert.is((await kept.run({ code: leave })).stdout, first.stdout);
  });
});

test('kept or not, exit codes, errors, limits and verdicts are the same', async () => {
  await withKept(async (kept) => {
    for (let round = 0; round < 2; round++) {
      for (const open of [kept, sandbox]) {
        const { status, exitCode, stdout } = await open.run({
          code: 'print(input())\nraise SystemExit(7)',
          stdin: 'hi\n',
        });
        assert.equal([status, exitCode, stdout], ['error', 7, 'hi\n']);
      }
      const test = 'assert task_func(1) == 2\nassert task_func(2) == 3';
      const passing = await kept.test({ solution: 'def task_func(x):\n    return x + 1', test });
      assert.equal([passing.status, passing.testsRun, passing.failures], ['pass', 2, []]);
      const failing = await kept.test({ solution: 'def task_func(x):\n    return None', test });
      assert.is(failing.status, 'fail');
    }
    assert.is((await kept.run({ code: 'while True: pass', timeoutMs: 500 })).status, 'timeout');
    assert.is((await kept.run({ code: 'print("x" * 2000)', outputBytes: 1000 })).status, 'output');
    const whole = await kept.run({ code: 'print("x" * 999)', outputBytes: 1000 });
    assert.equal([whole.status, whole.stdout.length], ['ok', 1000]);
    const ended = await kept.run({ code: 'import os\nprint("bye", flush=True)\nos._exit(3)' });
    assert.equal([ended.status, ended.exitCode, ended.stdout], ['error', 3, 'bye\n']);
    assert.is((await kept.run({ code: 'print("next")' })).stdout, 'next\n');
  });
});

test('a program that changed files beside its own takes its process with it', async () => {
  await withKept(async (kept) => {
    const change = `import os
for path in (os.path.dirname(os.__file__) + '/left.py', '/left'):
    try:
        with open(path, 'w') as file:
            file.write('raise RuntimeError("spoilt")')
        print('changed')
    except OSError as error:
        print(error)`;
    assert.match((await kept.run({ code: change })).stdout, /changed\n$/);
    for (let again = 0; again < 3; again++) {
      const { stdout, stderr } = await kept.run({ code: 'import os\nprint(os.path.exists("/left"))' });
      assert.is(stdout, 'False\n', stderr);
    }
  });
});

test('only pyodide keeps processes', async () => {
  try {
    await Sandbox.open({ backend: 'bubblewrap', reuse: true });
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /reuse does not apply to backend 'bubblewrap'/);
  }
});

test.after(() => sandbox.close());

test.run();
