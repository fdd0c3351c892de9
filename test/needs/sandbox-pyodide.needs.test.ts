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

test.after(() => sandbox.close());

test.run();
