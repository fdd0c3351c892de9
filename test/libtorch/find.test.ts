import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cacheFolder, libtorchCacheFolder } from '../../lib/libtorch/cache-folder.js';
import { findLibtorch } from '../../lib/libtorch/find.js';
import { cpuLibraries, inspectTorchFolder } from '../../lib/libtorch/torch-folder.js';
import { programFolder, temporaryFolder, torchFiles, writeFiles } from './fake-wheels.js';

function torchIn(files = torchFiles()): string {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  return join(folder, 'torch');
}

const nowhere = (): NodeJS.ProcessEnv => ({ PATH: programFolder(['sh']), GRPO_CACHE: temporaryFolder() });

test('the cache lies where the environment says', () => {
  assert.is(cacheFolder({ GRPO_CACHE: '/a', XDG_CACHE_HOME: '/b' }), '/a');
  assert.is(cacheFolder({ XDG_CACHE_HOME: '/b' }), '/b/grpo-native');
  assert.match(cacheFolder({}), /\/\.cache\/grpo-native$/);
  assert.is(libtorchCacheFolder('cpu', { GRPO_CACHE: '/a' }), '/a/libtorch/2.13.0-cpu');
});

test('version and variant come from version.py and, without a local part, from the libraries', () => {
  assert.equal(inspectTorchFolder(torchIn())?.variant, 'cpu');
  assert.equal(inspectTorchFolder(torchIn(torchFiles('2.13.0+cu126', "'12.6'")))?.variant, 'cu126');
  const cuda = { ...torchFiles('2.13.0', "'13.0'"), 'torch/lib/libtorch_cuda.so': 'cuda' };
  assert.equal(inspectTorchFolder(torchIn(cuda))?.variant, 'cu130');
  assert.equal(inspectTorchFolder(torchIn(torchFiles('2.13.0', "'13.0'")))?.variant, 'cpu');
  assert.is(inspectTorchFolder(temporaryFolder()), undefined);
});

test('libraries come dependencies first, with what a CUDA wheel wants from beside it', () => {
  const torch = torchIn({
    ...torchFiles(),
    'nvidia/cu13/lib/libcudart.so.13': 'rt',
    'nvidia/cu13/lib/libcupti.so.13': 'cupti',
  });
  assert.equal(
    cpuLibraries(torch).map((path) => path.slice(path.lastIndexOf('/') + 1)),
    ['libgomp.so.1', 'libcudart.so.13', 'libcupti.so.13', 'libc10.so', 'libtorch_cpu.so'],
  );
  const rest = torchFiles();
  delete rest['torch/lib/libc10.so'];
  assert.throws(() => cpuLibraries(torchIn(rest)), /libc10\.so is missing: run `npx grpo-native setup`/);
});

test('GRPO_LIBTORCH is taken, and nothing else when it does not do', () => {
  const env = nowhere();
  const torch = torchIn();
  assert.equal(findLibtorch('cpu', { ...env, GRPO_LIBTORCH: torch }), {
    folder: torch,
    version: '2.13.0',
    variant: 'cpu',
    source: 'GRPO_LIBTORCH',
  });
  const old = torchIn(torchFiles('2.12.1+cpu'));
  assert.throws(
    () => findLibtorch('cpu', { ...env, GRPO_LIBTORCH: old }),
    /must name torch 2\.13\.0, but .* is 2\.12\.1/,
  );
  assert.throws(() => findLibtorch('cpu', { ...env, GRPO_LIBTORCH: '/none' }), /but \/none is none/);
});

test('the cache comes before a Python environment', () => {
  const env = nowhere();
  assert.is(findLibtorch('cpu', env), undefined);
  writeFiles(libtorchCacheFolder('cpu', env), torchFiles());
  assert.is(findLibtorch('cpu', env)?.source, 'cache');
});

test('a Python environment counts only with the same version and variant', () => {
  const python = (torch: string): NodeJS.ProcessEnv => ({
    PATH: programFolder([], `echo ${torch}`),
    GRPO_CACHE: temporaryFolder(),
  });
  assert.is(findLibtorch('cpu', python(torchIn()))?.source, 'python3');
  assert.is(findLibtorch('cpu', python(torchIn(torchFiles('2.12.0+cpu')))), undefined);
  assert.is(findLibtorch('cpu', python(torchIn(torchFiles('2.13.0+cu126', "'12.6'")))), undefined);
  assert.is(findLibtorch('cpu', python('')), undefined);

  const active = temporaryFolder();
  mkdirSync(join(active, 'bin'));
  writeFileSync(join(active, 'bin', 'python'), `#!/bin/sh\necho ${torchIn()}\n`);
  chmodSync(join(active, 'bin', 'python'), 0o755);
  assert.is(findLibtorch('cpu', { ...nowhere(), VIRTUAL_ENV: active })?.source, 'VIRTUAL_ENV');
});

test('the real python3 is asked without importing torch', () => {
  const site = temporaryFolder();
  writeFiles(site, { ...torchFiles(), 'torch/__init__.py': 'raise SystemExit("imported")' });
  const env = { PATH: process.env['PATH'], GRPO_CACHE: temporaryFolder(), PYTHONPATH: site };
  assert.is(findLibtorch('cpu', env)?.folder, join(site, 'torch'));
});

test.run();
