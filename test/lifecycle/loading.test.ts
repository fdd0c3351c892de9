import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadCore, loadCoreSync } from '../../lib/binding.js';
import { addonFiles } from '../../lib/libtorch/addon-files.js';
import { cpuLibraries, findLibtorch, LIBTORCH_VERSION } from '../../lib/libtorch/index.js';
import { packageFolder } from '../../lib/package-folder.js';
import { temporaryFolder } from '../libtorch/fake-wheels.js';
import { runChild } from './child.js';

interface Loader {
  load(libraries: string[], core: string): { threads(): number };
}

test('the core loads once, in either way, and is built against the pinned libtorch', async () => {
  const core = await loadCore();
  assert.is(core, await loadCore());
  assert.is(core, loadCoreSync());
  assert.is(core.torchVersion(), LIBTORCH_VERSION);
});

test('at::parallel_for of the core really runs on every thread', async () => {
  const core = (await loadCore()) as Awaited<ReturnType<typeof loadCore>> & { parallelThreadsSeen(): number };
  assert.is(core.threads() > 1, availableParallelism() > 1);
  assert.is(core.parallelThreadsSeen(), core.threads());
});

test('OpenMP threads sleep between products instead of spinning, unless the user says otherwise', async () => {
  const code = "import('./lib/binding.ts').then((m) => m.loadCore())";
  const usual = await runChild({ code }, { env: { OMP_DISPLAY_ENV: 'true' } });
  assert.match(usual.stderr, "OMP_WAIT_POLICY = 'PASSIVE'");
  const chosen = await runChild({ code }, { env: { OMP_DISPLAY_ENV: 'true', OMP_WAIT_POLICY: 'active' } });
  assert.match(chosen.stderr, "OMP_WAIT_POLICY = 'ACTIVE'");
});

test('workers load the core as well, one after the other and two at once', async () => {
  const binding = join(import.meta.dirname, '..', '..', 'lib', 'binding.ts');
  const code = `
    const { parentPort } = require('node:worker_threads');
    import('tsx/esm/api')
      .then(({ tsImport }) => tsImport(${JSON.stringify(binding)}, ${JSON.stringify(import.meta.url)}))
      .then((m) => m.loadCore())
      .then((core) => parentPort.postMessage(core.threads()));`;
  const start = async (): Promise<number> => {
    const worker = new Worker(code, { eval: true });
    const [threads] = (await once(worker, 'message')) as [number];
    const [exitCode] = (await once(worker, 'exit')) as [number];
    assert.is(exitCode, 0);
    return threads;
  };
  const threads = (await loadCore()).threads();
  assert.is(await start(), threads);
  assert.equal(await Promise.all([start(), start()]), [threads, threads]);
});

test('the loader says which library does not load, and why', () => {
  const files = addonFiles(packageFolder(), true);
  const torch = findLibtorch();
  if (!files || !torch) throw new Error('the core must be set up');
  const loader = createRequire(import.meta.url)(files.loader) as Loader;
  const broken = join(temporaryFolder(), 'libbroken.so');
  writeFileSync(broken, 'no library');
  const error = (action: () => unknown): { code?: string; message: string } => {
    try {
      action();
    } catch (reason) {
      return reason as { code?: string; message: string };
    }
    throw new Error('must throw');
  };
  const missing = error(() => loader.load(['/none/libc10.so'], files.core));
  assert.is(missing.code, 'LIBTORCH_MISSING');
  assert.match(missing.message, '/none/libc10.so does not load: /none/libc10.so: cannot open shared object file');
  assert.is(error(() => loader.load([broken], files.core)).code, 'LIBTORCH_MISSING');
  const core = error(() => loader.load(cpuLibraries(torch.folder), broken));
  assert.is(core.code, 'NATIVE_MISSING');
  assert.match(core.message, 'libbroken.so does not load: ');
  const library = error(() => loader.load([], cpuLibraries(torch.folder).at(-1) ?? ''));
  assert.match(library.message, 'has no grpo_core_init');
  assert.is(error(() => loader.load('x' as never, files.core)).code, 'INVALID_ARGUMENT');
});

test('where setting up is forbidden, a missing core is one error that names the command', async () => {
  const code =
    "import('./lib/binding.ts').then((m) => m.loadCore()).catch((e) => console.log(e.name, e.code, e.message))";
  const { stdout, code: exitCode } = await runChild(
    { code },
    { env: { GRPO_NO_SETUP: '1', GRPO_NATIVE_PREBUILD: temporaryFolder() } },
  );
  assert.is(exitCode, 0);
  assert.is(
    stdout,
    'GrpoError NATIVE_MISSING [load] the native core is not set up and GRPO_NO_SETUP forbids doing so now: run `npx grpo-native setup`\n',
  );
});

test.run();
