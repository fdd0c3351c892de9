import { type AddressInfo, createServer } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GrpoError } from '../../lib/errors.js';
import { Sandbox } from '../../lib/sandbox/index.js';
import { skipAloud } from '../harness.js';
import { testEngine } from './container-image.js';
import { hostilePrograms } from './hostile-programs.js';

const engine = testEngine();
if (typeof engine === 'string') skipAloud(engine);
process.env.SANDBOX_TEST_SECRET = 'sesame';
const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const sandbox = await Sandbox.open({
  backend: 'container',
  engine: 'podman',
  image: engine.image,
  python: '/usr/bin/python3',
});

// A container has these of its own; what is in them is looked at below.
const own = ['/run', '/sys/fs', '/etc/hostname'];

for (const hostile of hostilePrograms(port, own)) {
  test(`a program in a container that ${hostile.name} harms nobody`, async () => {
    const wanted = [hostile.status].flat();
    const timeoutMs = wanted.includes('timeout') ? 1500 : 20_000;
    const result = await sandbox.run({ code: hostile.code, timeoutMs, memoryMb: 256 });
    assert.ok(wanted.includes(result.status), `${result.status} ${result.stdout} ${result.stderr.slice(-500)}`);
    if (hostile.stdout) assert.match(result.stdout, hostile.stdout);
    if (result.status === 'timeout') assert.ok(result.wallMs < 6000, `${result.wallMs} ms`);
  });
}

test('a program is nobody, sees an image, an empty folder and a clean environment, and writes to its temporary folders only', async () => {
  const { stdout } = await sandbox.run({
    code: `import os
print(os.getuid(), os.getcwd(), os.listdir("."), [k for k in os.environ if "SECRET" in k], os.environ["PYTHONHASHSEED"])
writable = []
for folder, _, _ in os.walk("/"):
  if folder.startswith("/proc"): continue
  try: open(folder + "/x", "w"); writable.append(folder)
  except OSError: pass
print(sorted(writable))
print(os.listdir("/run"), open("/etc/hostname").read().strip())`,
  });
  assert.is(
    stdout,
    "65534 /tmp/program ['main.py'] [] 0\n['/dev/shm', '/tmp', '/tmp/program']\n['.containerenv'] sandbox\n",
  );
});

test('programs in containers side by side do not count against each other', async () => {
  const code = `import os, time
made = 0
try:
  for _ in range(60):
    if os.fork() == 0: time.sleep(1.5); os._exit(0)
    made += 1
except OSError: pass
print(made)`;
  const results = await Promise.all([1, 2, 3].map(() => sandbox.run({ code })));
  assert.equal(
    results.map(({ stdout }) => stdout),
    ['60\n', '60\n', '60\n'],
  );
});

test('solutions are judged in containers', async () => {
  const judged = { solution: 'def f(x): return x + 1', test: 'assert f(1) == 2\nassert f(2) == 3' };
  const good = await sandbox.test(judged);
  assert.equal([good.status, good.testsRun], ['pass', 2]);
  assert.is((await sandbox.test({ ...judged, solution: 'import os\nos._exit(0)' })).status, 'fail');
});

test('more memory than allowed, of many processes together, is status memory', async () => {
  const code =
    'import os, time\nfor _ in range(6):\n  if os.fork() == 0:\n    x = bytearray(150 << 20)\n    for i in range(0, len(x), 4096): x[i] = 1\n    time.sleep(20)\ntime.sleep(20)';
  assert.is((await sandbox.run({ code, memoryMb: 256 })).status, 'memory');
});

test('an image that is not there is an error that names it', async () => {
  try {
    await (await Sandbox.open({ backend: 'container', engine: 'podman', image: 'localhost/no-such-image' })).close();
    assert.unreachable();
  } catch (error) {
    assert.is((error as GrpoError).code, 'SANDBOX_UNAVAILABLE');
    assert.match((error as GrpoError).message, /localhost\/no-such-image/);
  }
});

test('an aborted program is removed, and nothing is left at the end', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 1500);
  const running = sandbox.run({ code: 'while True: pass', timeoutMs: 60_000, signal: controller.signal });
  assert.is(await running.catch((error: GrpoError) => error.code), 'ABORTED');
  await sandbox.close();
  server.close();
  assert.equal(engine.containers(), []);
  engine.remove();
});

test.run();
