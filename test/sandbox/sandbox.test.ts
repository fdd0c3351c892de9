import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { Sandbox } from '../../lib/sandbox/index.js';
import type { SandboxOptions } from '../../lib/sandbox/types.js';

const unavailable = async (options: SandboxOptions, message: RegExp): Promise<void> => {
  try {
    await (await Sandbox.open(options)).close();
    assert.unreachable('it opened');
  } catch (error) {
    assert.is((error as GrpoError).code, 'SANDBOX_UNAVAILABLE', String(error));
    assert.match((error as GrpoError).message, message);
  }
};

test('without bubblewrap the error gives the line that installs it', async () => {
  const path = process.env.PATH;
  process.env.PATH = '/nowhere';
  try {
    await unavailable({}, /apt-get install bubblewrap/);
    await unavailable({ backend: 'bubblewrap' }, /apt-get install bubblewrap/);
  } finally {
    process.env.PATH = path;
  }
});

test("backend 'process' must be allowed by name", async () => {
  await unavailable({ backend: 'process' }, /allowUnsandboxed: true/);
});

test('options of Sandbox.open that mean nothing are refused by name', async () => {
  const message = async (options: unknown) =>
    Sandbox.open(options as never).then(
      (sandbox) => sandbox.close().then(() => 'opened'),
      (error: GrpoError) => `${error.code} ${error.message}`,
    );
  assert.match(
    await message({ bakend: 'process' }),
    /^INVALID_ARGUMENT .*unknown key "bakend"; did you mean "backend"/,
  );
  assert.match(await message({ timeoutMs: 5 }), /^INVALID_ARGUMENT .*unknown key "timeoutMs"/);
  assert.match(await message('process'), /^INVALID_ARGUMENT .*an object of options is needed, found "process"/);
  assert.match(await message(null), /^INVALID_ARGUMENT .*an object of options is needed, found null/);
  assert.match(await message({ python: 5 }), /^INVALID_ARGUMENT .*python must be the name or path/);
  assert.match(await message({ python: '' }), /^INVALID_ARGUMENT .*python must be the name or path/);
});

test('an unknown backend is refused with the list of those there are', async () => {
  try {
    await Sandbox.open({ backend: 'jail' as never });
    assert.unreachable();
  } catch (error) {
    assert.is((error as GrpoError).code, 'INVALID_ARGUMENT');
    assert.match((error as GrpoError).message, /'bubblewrap'.*"jail"/);
  }
});

test("backend 'process' limits time, memory, output and file size, and leaves nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-native-test-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  const sandbox = await Sandbox.open({ backend: 'process', allowUnsandboxed: true });
  try {
    assert.is(sandbox.backend, 'process');
    const status = async (code: string, timeoutMs = 20_000) =>
      (await sandbox.run({ code, timeoutMs, memoryMb: 128 })).status;
    assert.is(await status('while True: pass', 500), 'timeout');
    assert.is(await status('x = []\nwhile True: x.append(bytearray(1 << 20))'), 'memory');
    assert.is(await status('while True: print("x" * 1000)'), 'output');
    assert.is(await status('open("f", "wb").write(b"x" * (65 << 20))'), 'error');
    const mark = join(folder, 'mark');
    const daemon = `import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    time.sleep(1)\n    open(${JSON.stringify(mark)}, "w")\n  os._exit(0)\nos.wait()`;
    assert.is(await status(daemon), 'ok');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.not.ok(existsSync(mark), 'a daemon outlived its program');
  } finally {
    await sandbox.close();
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  assert.equal(readdirSync(folder), []);
  rmSync(folder, { recursive: true });
});

test("an aborted program of backend 'process' is gone with its children", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-native-test-'));
  const sandbox = await Sandbox.open({ backend: 'process', allowUnsandboxed: true });
  const controller = new AbortController();
  const path = (name: string) => JSON.stringify(join(folder, name));
  const code = `import os, time\nif os.fork() == 0: os.setsid()\nopen(${path('started')}, "w")\ntime.sleep(2.5)\nopen(${path('mark')}, "w")`;
  const running = sandbox.run({ code, signal: controller.signal }).catch((error: GrpoError) => error.code);
  while (!existsSync(join(folder, 'started'))) await new Promise((resolve) => setTimeout(resolve, 20));
  controller.abort();
  assert.is(await running, 'ABORTED');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.equal(readdirSync(folder), ['started']);
  rmSync(folder, { recursive: true });
  await sandbox.close();
});

test("backend 'process' judges tests", async () => {
  const sandbox = await Sandbox.open({ backend: 'process', allowUnsandboxed: true });
  const source = 'assert f(1) == 2\nassert f(2) == 3';
  assert.is((await sandbox.test({ solution: 'def f(x): return x + 1', test: source })).status, 'pass');
  const result = await sandbox.test({ solution: 'def f(x): return 2', test: source });
  assert.equal(
    [result.status, result.testsRun, result.failures],
    ['fail', 2, [{ name: 'assert 2', message: 'AssertionError' }]],
  );
  await sandbox.close();
});

test.run();
