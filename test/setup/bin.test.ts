import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder, writeFiles } from '../libtorch/fake-wheels.js';

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'grpo-native.js');

function run(files: Record<string, string>): { status: number | null; stdout: string; stderr: string; folder: string } {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  cpSync(BIN, join(folder, 'bin', 'grpo-native.js'));
  writeFiles(folder, { 'package.json': '{"type":"module"}', ...files });
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/grpo-native.js'), 'x'], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr, folder };
}

test('without dist/ the command says in one line what to run', () => {
  const { status, stdout, stderr, folder } = run({});
  assert.is(status, 1);
  assert.is(stdout, '');
  assert.match(stderr, /^grpo-native: the compiled files \(dist\/\) are missing/);
  assert.match(stderr, `Run: npm run prepare --prefix ${folder}/\n`);
  assert.is(stderr.split('\n').length, 2);
});

test('with dist/ the command line runs', () => {
  const { status, stdout } = run({ 'dist/bin/cli.js': 'console.log("ran", process.argv[2]); process.exitCode = 3;' });
  assert.is(stdout, 'ran x\n');
  assert.is(status, 3);
});

test.run();
