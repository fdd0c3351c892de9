import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { addonFiles } from '../../lib/libtorch/addon-files.js';
import { build } from '../../lib/setup/build.js';
import { temporaryFolder, writeFiles } from '../libtorch/fake-wheels.js';

const torch = { folder: '/some/torch', version: '2.13.0', variant: 'cpu' };

function packageOf(cmake: string, source = 'int x;'): string {
  const folder = temporaryFolder();
  writeFiles(folder, {
    'package.json': '{"name":"some-package","version":"1.2.3","binary":{"napi_versions":[8]}}',
    'CMakeLists.txt': `cmake_minimum_required(VERSION 3.22)\nproject(x LANGUAGES CXX)\n${cmake}\n`,
    'native/x.cc': source,
  });
  return folder;
}

const TWO_LIBRARIES = ['grpo-native .node', 'grpo-core .so']
  .map((line) => line.split(' '))
  .map(
    ([name, suffix]) =>
      `add_library(${name} MODULE native/x.cc)\nset_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ${suffix} ` +
      'LIBRARY_OUTPUT_DIRECTORY "${CMAKE_SOURCE_DIR}/build/Release")',
  )
  .join('\n');

async function failure(promise: Promise<void>): Promise<GrpoError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.instance(error, GrpoError);
  return error as GrpoError;
}

test('a build is told about libtorch, records its sources last and says how long it took', async () => {
  const folder = packageOf(`message(STATUS "torch at \${GRPO_LIBTORCH}")\n${TWO_LIBRARIES}`);
  const news: string[] = [];
  await build(folder, torch, (line) => news.push(line));
  assert.ok(addonFiles(folder));
  assert.match(readFileSync(join(folder, 'build/build.log'), 'utf8'), 'torch at /some/torch');
  assert.is(
    readFileSync(join(folder, 'build/artifacts/build.json'), 'utf8'),
    readFileSync(join(folder, 'build/Release/build.json'), 'utf8'),
  );
  assert.match(news.at(-1) ?? '', /^the native core is built \(\d+ s\)$/);
});

test('a build that fails shows the first errors, names the log and leaves no record', async () => {
  const folder = packageOf(TWO_LIBRARIES, 'int x = nothing_like_that;');
  const error = await failure(build(folder, torch, () => undefined));
  assert.is(error.code, 'BUILD_FAILED');
  assert.match(error.message, 'nothing_like_that');
  assert.match(error.message, join(folder, 'build/build.log'));
  assert.not(existsSync(join(folder, 'build/Release/build.json')));
});

test('a configuration that fails says why', async () => {
  const error = await failure(build(packageOf('message(FATAL_ERROR "no such thing")'), torch, () => undefined));
  assert.match(error.message, /cmake-js configure failed/);
  assert.match(error.message, 'no such thing');
});

test.run();
