import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addonFiles, wantedRecord } from '../../lib/libtorch/addon-files.js';
import { temporaryFolder, writeFiles } from '../libtorch/fake-wheels.js';

function packageWith(built: string): string {
  const folder = temporaryFolder();
  writeFiles(folder, {
    'package.json': '{"name":"some-package","version":"1.2.3"}',
    'CMakeLists.txt': 'project(x)',
    'native/engine/engine.cc': 'int x;',
  });
  put(folder, built);
  return folder;
}

function put(folder: string, built: string): void {
  const record = JSON.stringify(wantedRecord(folder));
  writeFiles(join(folder, built), { 'grpo-native.node': '', 'grpo-core.so': '', 'build.json': record });
}

test('a build of these sources fits, loader and core side by side', () => {
  const folder = packageWith('build/Release');
  assert.equal(addonFiles(folder), {
    loader: join(folder, 'build/Release/grpo-native.node'),
    core: join(folder, 'build/Release/grpo-core.so'),
  });
});

test('a prebuild is taken where there is no build', () => {
  const folder = packageWith('prebuilds/linux-x64');
  assert.is(addonFiles(folder)?.core, join(folder, 'prebuilds/linux-x64/grpo-core.so'));
});

test('a build of other sources, of another version or without its record does not fit', () => {
  const folder = packageWith('build/Release');
  writeFileSync(join(folder, 'native/engine/engine.cc'), 'int y;');
  assert.is(addonFiles(folder), undefined);
  assert.ok(addonFiles(folder, true), 'unless it is taken as it is');

  put(folder, 'build/Release');
  assert.ok(addonFiles(folder));
  writeFileSync(join(folder, 'package.json'), '{"name":"some-package","version":"1.2.4"}');
  assert.is(addonFiles(folder), undefined);

  const killed = packageWith('build/Release');
  rmSync(join(killed, 'build/Release/build.json'));
  assert.is(addonFiles(killed), undefined);
});

test('a loader without a core is no build', () => {
  const folder = packageWith('build/Release');
  rmSync(join(folder, 'build/Release/grpo-core.so'));
  assert.is(addonFiles(folder), undefined);
  assert.is(addonFiles(folder, true), undefined);
  mkdirSync(join(folder, 'empty'));
  assert.is(addonFiles(join(folder, 'empty')), undefined);
});

test.run();
