import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { containerLaunch, containerLimits, findEngines } from '../../lib/sandbox/container.js';
import { Sandbox } from '../../lib/sandbox/index.js';
import type { SandboxOptions } from '../../lib/sandbox/types.js';
import { fakeEngine } from './fake-engine.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-native-test-'));
const engine = fakeEngine(folder);
const path = process.env.PATH;
const options: SandboxOptions = { backend: 'container', image: 'test-image', python: '/usr/bin/python3' };

const calls = (): string[][] =>
  existsSync(engine.log)
    ? readFileSync(engine.log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string[])
    : [];

/** The folder of programs is the machine's own here: the fake engine has no file systems. */
const cleanPrograms = (): void => rmSync('/tmp/program', { recursive: true, force: true });

test.before(() => {
  // Only the fake engine and the interpreter that it starts: no bubblewrap, no real engine.
  process.env.PATH = engine.bin;
});
test.after.each(() => {
  delete process.env.FAKE_ENGINE;
  cleanPrograms();
});
test.after(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true });
});

test('a container has no network, no rights, nothing to write to but temporary folders, and limits', () => {
  assert.equal(containerLimits('docker', 512, 64), [
    ...['--rm', '--interactive', '--pull', 'never', '--log-driver', 'none', '--network', 'none', '--read-only'],
    ...['--tmpfs', '/tmp:rw,nosuid,nodev,mode=1777,size=134217728'],
    ...['--tmpfs', '/dev/shm:rw,nosuid,nodev,mode=1777,size=134217728'],
    ...['--memory', '768m', '--memory-swap', '768m', '--pids-limit', '72'],
    ...['--user', '65534:65534', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--hostname', 'sandbox', '--workdir', '/tmp', '--entrypoint', ''],
  ]);
});

test('Podman makes no temporary folders of its own, and fills none from the image', () => {
  const limits = containerLimits('podman', 512, 64);
  assert.ok(limits.includes('--read-only-tmpfs=false'));
  const folders = limits.filter((_, index) => limits[index - 1] === '--tmpfs');
  assert.equal(
    folders.map((text) => text.replace(/:.*,/, ' ')),
    ['/tmp notmpcopyup', '/dev/shm notmpcopyup'],
  );
});

test('each container has a name of its own, and its program an environment that holds nothing of ours', () => {
  const [first, second] = [0, 1].map(() =>
    containerLaunch({ path: '/x/docker', kind: 'docker' }, 'image', 'python3', 512, 64),
  );
  const name = (args: string[]): string => args[args.indexOf('--name') + 1]!;
  assert.is.not(name(first!.args), name(second!.args));
  assert.match(name(first!.args), new RegExp(`^grpo-native-${process.pid}-\\d+$`));
  const given = first!.args.filter((_, index) => first!.args[index - 1] === '--env');
  assert.ok(given.includes('PYTHONHASHSEED=0') && given.includes('HOME=/tmp'));
  assert.not.ok(given.some((text) => text.startsWith('PATH=')));
  assert.equal(first!.args.slice(-6, -1).slice(0, 4), ['image', 'python3', '-s', '-c']);
});

test('engines are looked for on the PATH, docker before podman, and told apart by what they say', async () => {
  const path = join(engine.bin, 'docker');
  assert.equal(await findEngines(), [{ path, kind: 'docker' }]);
  process.env.FAKE_VERSION = 'podman version 4.3.1';
  assert.equal(await findEngines('docker'), [{ path, kind: 'podman' }]);
  delete process.env.FAKE_VERSION;
  assert.equal(await findEngines('podman'), []);
});

test('image and engine are checked, and refused where no container can come of them', async () => {
  for (const [given, message] of [
    [{ engine: 'runc' }, /engine must be 'docker' or 'podman', found "runc"/],
    [{ image: '--privileged' }, /image must be the name of a container image.*"--privileged"/],
    [{ image: 'x', backend: 'bubblewrap' }, /image does not apply here: it needs backend 'container'/],
    [{ engine: 'docker', backend: 'process' }, /engine does not apply here/],
  ] as const) {
    try {
      await (await Sandbox.open({ backend: 'container', ...given } as SandboxOptions)).close();
      assert.unreachable('it opened');
    } catch (error) {
      assert.is((error as GrpoError).code, 'INVALID_ARGUMENT', String(error));
      assert.match((error as GrpoError).message, message);
    }
  }
});

test('programs and tests run in containers; each ends with its program', async () => {
  const sandbox = await Sandbox.open(options);
  assert.equal([sandbox.backend, sandbox.isWarm], ['container', false]);
  const run = await sandbox.run({ code: 'import sys\nprint(sys.stdin.read())\nsys.exit(3)', stdin: 'hello' });
  assert.equal([run.status, run.exitCode, run.stdout], ['error', 3, 'hello\n']);
  const result = await sandbox.test({ solution: 'def f(x): return x + 1', test: 'assert f(1) == 2' });
  assert.equal([result.status, result.testsRun], ['pass', 1]);
  await sandbox.close();
  assert.equal(readdirSync(join(folder, 'running')), []);
});

test('a program over its time is ended; an aborted one is removed by its name', async () => {
  const sandbox = await Sandbox.open(options);
  assert.is((await sandbox.run({ code: 'while True: pass', timeoutMs: 500 })).status, 'timeout');
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 1000);
  const running = sandbox.run({ code: 'while True: pass', timeoutMs: 60_000, signal: controller.signal });
  assert.is(await running.catch((error: GrpoError) => error.code), 'ABORTED');
  await sandbox.close();
  const started = calls().filter(([command]) => command === 'run');
  const name = started.at(-1)![started.at(-1)!.indexOf('--name') + 1];
  assert.equal(calls().at(-1), ['rm', '--force', name]);
  assert.equal(readdirSync(join(folder, 'running')), []);
});

test('a container that the kernel ended for its memory is status memory, and a failed test', async () => {
  const sandbox = await Sandbox.open(options);
  process.env.FAKE_ENGINE = 'killed';
  const run = await sandbox.run({ code: '' });
  assert.equal([run.status, run.exitCode], ['memory', null]);
  const result = await sandbox.test({ solution: '', test: 'assert True' });
  assert.equal([result.status, result.failures[0]?.message], ['fail', 'used more than 2048 MB of memory']);
  await sandbox.close();
});

test('an engine that does not answer is an error with its reason; auto names bubblewrap first', async () => {
  process.env.FAKE_ENGINE = 'down';
  for (const [backend, message] of [
    ['container', /docker with the image test-image is there, but .*Cannot connect to the daemon/s],
    ['auto', /apt-get install bubblewrap; .*Cannot connect to the daemon/s],
  ] as const) {
    try {
      await (await Sandbox.open({ ...options, backend })).close();
      assert.unreachable('it opened');
    } catch (error) {
      assert.is((error as GrpoError).code, 'SANDBOX_UNAVAILABLE', String(error));
      assert.match((error as GrpoError).message, message);
    }
  }
});

test('auto takes a container where there is no bubblewrap', async () => {
  const sandbox = await Sandbox.open({ ...options, backend: 'auto' });
  assert.is(sandbox.backend, 'container');
  await sandbox.close();
});

test('without an engine the error says what to install', async () => {
  process.env.PATH = '/nowhere';
  try {
    await Sandbox.open(options);
    assert.unreachable('it opened');
  } catch (error) {
    assert.match((error as GrpoError).message, /neither docker nor podman.*apt-get install bubblewrap/);
  } finally {
    process.env.PATH = engine.bin;
  }
});

test.run();
