import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const cli = fileURLToPath(new URL('../../bin/cli.ts', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', cli, ...args], {
    encoding: 'utf8',
    cwd: root,
  });
  return { status, stdout, stderr };
}

const usage = (args: string[], pattern: RegExp) => {
  const { status, stderr } = run(...args);
  assert.match(stderr, pattern);
  assert.is(stderr.trim().split('\n').length, 1, `one line: ${stderr}`);
  assert.is(status, 2);
};

test('help lists the commands and leaves with 0', () => {
  const { status, stdout } = run('--help');
  assert.is(status, 0);
  for (const command of ['train', 'eval', 'generate', 'tasks', 'docs', 'report', 'setup', 'doctor'])
    assert.match(stdout, new RegExp(`grpo-native ${command}`));
});

test('help of a command shows its options with ranges and defaults', () => {
  const { status, stdout } = run('train', '--help');
  assert.is(status, 0);
  const text = stdout.replace(/\s+/g, ' ');
  assert.match(text, /--prompts-per-step Tasks of one step\. \[tasks; >= 1; default 4\]/);
  assert.match(text, /--loss\.kl-coefficient/);
});

test('unknown commands, options and keys name the nearest and leave with 2', () => {
  usage(['trian'], /unknown command trian; did you mean train\?/);
  usage(['train', '--groupsize', '8'], /unknown option --groupsize; did you mean --group-size\?/);
  const folder = mkdtempSync(join(tmpdir(), 'grpo-cli-'));
  writeFileSync(join(folder, 'run.json'), '{ "grupSize": 4 }');
  usage(['train', join(folder, 'run.json')], /unknown key grupSize; did you mean groupSize\?/);
  rmSync(folder, { recursive: true });
});

test('values that are wrong or do nothing leave with 2', () => {
  usage(['train', '--steps', 'ten'], /--steps must be a number/);
  usage(['train', '--loss.cispo-max', '3'], /loss\.cispoMax does not apply here/);
  usage(['train', '--dtype', 'float16'], /dtype.*float16/);
});

test('train with tasks and no model asks for one', () => {
  usage(['train', '--tasks', 'examples/mbpp-sample.jsonl'], /--model .*--tasks/);
});

test('a run that is none leaves with 1, and --verbose shows the stack', () => {
  const { status, stderr } = run('report', root);
  assert.is(status, 1);
  assert.match(stderr, /is no run folder/);
  assert.is(stderr.trim().split('\n').length, 1);
  assert.match(run('report', root, '--verbose').stderr, /at readRun/);
});

test.run();
