import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = join(import.meta.dirname, '../..');
const cli = (...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', join(root, 'bin/cli.ts'), ...args], {
    encoding: 'utf8',
    cwd: root,
  });
  return { status, stderr };
};

test('a number that is none, or given twice, is wrong usage and never checks nothing', () => {
  const file = 'examples/mbpp-sample.jsonl';
  for (const slip of [
    ['--limit', 'x'],
    ['--limit', '0'],
    ['--concurrency', '0'],
    ['--limit', '1', '--limit', '2'],
  ]) {
    const { status, stderr } = cli('tasks', 'check', file, ...slip);
    assert.is(status, 2, slip.join(' '));
    assert.match(stderr, /must be one whole number >= 1/);
  }
});

test('an option without its value is wrong usage', () => {
  const { status, stderr } = cli('train', '--steps');
  assert.is(status, 2);
  assert.match(stderr, /^grpo-native: --steps needs a value\n$/);
});

test('options that exclude one another are wrong usage', () => {
  const { status, stderr } = cli('train', '--open', '--check');
  assert.is(status, 2);
  assert.is(stderr, 'grpo-native: --open and --check exclude one another\n');
});

test('a reader that has gone does not bring a stack', () => {
  const command = `${process.execPath} --import tsx bin/cli.ts docs search list --limit 40 | head -c 1 > /dev/null`;
  const { stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8', cwd: root });
  assert.is(stderr, '');
});

test.run();
