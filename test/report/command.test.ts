import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRun } from '../../lib/run/index.js';
import { writeTinyModel } from '../e2e/tiny-model.js';
import { writeSyntheticRun } from './synthetic-run.js';

const CLI = fileURLToPath(new URL('../../bin/cli.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');
const folder = mkdtempSync(join(tmpdir(), 'grpo-report-command-'));
const at = (name: string) => join(folder, name);
// As on a machine without a display.
const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, WSL_DISTRO_NAME: _wsl, ...env } = process.env;

test.before(async () => {
  for (const name of ['a', 'b']) {
    mkdirSync(at(name));
    await writeSyntheticRun(at(name), { steps: 2, prompts: 1, samples: 2, tasks: 2, evaluateEvery: 1 });
  }
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

const start = (...args: string[]) => spawn(process.execPath, ['--import', TSX, CLI, ...args], { cwd: folder, env });
const run = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', TSX, CLI, ...args], { cwd: folder, env, encoding: 'utf8' });

test('report prints steps and table, and writes page and picture', () => {
  const { status, stdout, stderr } = run('report', 'a');
  assert.is(status, 0, stderr);
  assert.match(stdout, /step 2\/2.*Baseline \(no tools\).*tool-learning gain.*a\/report\.html\n.*a\/report\.png/s);
  assert.ok(existsSync(at('a/report.html')) && existsSync(at('a/report.png')));
});

test('report of a run of sft names its files, and prints no table of episodes', () => {
  mkdirSync(at('sft'));
  writeFileSync(at('sft/config.json'), '{"config":{}}');
  writeFileSync(at('sft/metrics.jsonl'), '{"step":1,"seconds":1,"loss":2.5}\n');
  const { status, stdout, stderr } = run('report', 'sft');
  assert.is(status, 0, stderr);
  assert.is(stdout, 'sft/report.html\nsft/report.png\n');
});

test('report of two runs compares them, once', () => {
  const first = run('report', 'a', 'b');
  assert.is(first.status, 0, first.stderr);
  assert.match(first.stdout, /│ +│ +a +│ +b +│/);
  assert.ok(existsSync(at('comparison.html')));
  const second = run('report', 'a', 'b');
  assert.is(second.status, 1);
  assert.match(second.stderr, /comparison\.html exists already; choose another --output, or --force to replace it/);
  assert.is(run('report', 'a', 'b', '--force').status, 0);
});

test('options that say nothing are wrong usage', () => {
  const usage = (pattern: RegExp, ...args: string[]) => {
    const { status, stderr } = run(...args);
    assert.is(status, 2, stderr);
    assert.match(stderr, pattern);
  };
  usage(/--serve takes one run/, 'report', 'a', 'b', '--serve');
  usage(/--port needs --serve/, 'report', 'a', '--port', '80');
  usage(/--output belongs to a comparison/, 'report', 'a', '--output', 'x.html');
  usage(/--port must be one whole number/, 'report', 'a', '--serve', '--port', 'x');
  usage(/--port must be one whole number of 0 to 65535, but got "80000"/, 'report', 'a', '--serve', '--port', '80000');
  usage(/open.*check|check.*open/, 'train', '--open', '--check', '--model', 'm', '--tasks', 't');
});

/** The address that a command prints, once it has. */
const addressOf = (stream: NodeJS.ReadableStream): Promise<string> =>
  new Promise((settle) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(text);
      if (found) settle(found[0]);
    });
  });

test('--serve serves until Ctrl-C', async () => {
  const child = start('report', 'b', '--serve', '--open');
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const address = await addressOf(child.stdout);
  const data = (await (await fetch(`${address}data`)).json()) as { run: { stepsDone: number } };
  assert.is(data.run.stepsDone, 2);
  assert.match(errors, /no browser could be opened here/);
  const ended = new Promise<number | null>((settle) => child.on('close', settle));
  child.kill('SIGINT');
  assert.is(await ended, 0);
});

test('train --open serves the run while it trains, without a display too, and leaves page and picture', async () => {
  await writeTinyModel(at('model'));
  const environment = join(import.meta.dirname, 'vowels-module.ts');
  const sizes = ['--steps', '3', '--prompts-per-step', '2', '--group-size', '4', '--max-new-tokens', '8'];
  const child = start('train', '--open', '--model', 'model', '--environment', environment, ...sizes, '--output', 'run');
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<number | null>((settle) => child.on('close', settle));
  const address = await Promise.race([addressOf(child.stderr), ended.then(() => '')]);
  assert.is.not(address, '', errors);
  const data = (await (await fetch(`${address}data`)).json()) as { run: { name: string; stepsPlanned: number } };
  assert.equal([data.run.name, data.run.stepsPlanned], ['run', 3]);
  assert.is(await ended, 0, errors);
  assert.match(errors, /no browser could be opened here/);
  assert.is((await readRun(at('run'))).metrics.length, 3);
  assert.ok(existsSync(at('run/report.html')) && existsSync(at('run/report.png')));
  assert.ok(
    await fetch(address).then(
      () => false,
      () => true,
    ),
    'the server ended with the training',
  );
});

test.run();
