import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compareRuns } from '../../lib/report/index.js';
import { writeSyntheticRun } from './synthetic-run.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-compare-'));
const at = (name: string) => join(folder, name);
test.before(async () => {
  for (const name of ['a', 'b', 'other/a']) mkdirSync(at(name), { recursive: true });
  await writeSyntheticRun(at('a'), { steps: 6, prompts: 1, samples: 2, tasks: 2, evaluateEvery: 3 });
  await writeSyntheticRun(at('b'), { steps: 3, prompts: 1, samples: 2, tasks: 2, evaluateEvery: 0 });
  await writeSyntheticRun(at('other/a'), { steps: 2, prompts: 1, samples: 2, tasks: 2, evaluateEvery: 0 });
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as { code: string; message: string },
  );

test('the table has one column a run, and leaves out what no run has', async () => {
  const { text, html } = await compareRuns([at('a'), at('b')], { output: at('c.html') });
  assert.is(html, at('c.html'));
  const cells = (name: string) =>
    text
      .split('\n')
      .map((line) => line.split('│').map((cell) => cell.trim()))
      .find((line) => line[1] === name)
      ?.slice(2, 4);
  assert.equal(cells(''), ['a', 'b']);
  assert.equal(cells('steps'), ['6', '3']);
  assert.match(cells('before (multi-tool)')![0]!, /^[\d.]+ %$/);
  assert.is(cells('before (multi-tool)')![1], '–');
  assert.match(cells('tool-learning gain')![0]!, /^[+-][\d.]+ points$/);
  assert.is(cells('tool-learning gain')![1], '–');
  const { text: without } = await compareRuns([at('b'), at('other/a')], { output: at('d.html') });
  assert.is(/before/.test(without), false);
});

test('an existing page is never replaced without being told to', async () => {
  const output = at('mine.html');
  writeFileSync(output, 'mine');
  const error = await failure(compareRuns([at('a'), at('b')], { output }));
  assert.is(error!.code, 'RUN_EXISTS');
  assert.match(error!.message, /--output, or --force/);
  assert.is(readFileSync(output, 'utf8'), 'mine');
  await compareRuns([at('a'), at('b')], { output, force: true });
  assert.match(readFileSync(output, 'utf8'), /^<!doctype html>/);
});

test('runs of the same name are told apart by their folders', async () => {
  const { text } = await compareRuns([at('a'), at('other/a')], { output: at('e.html') });
  assert.ok(text.includes(at('a')) && text.includes(at('other/a')));
});

test('fewer than two runs, one twice, or a folder without a run is refused', async () => {
  assert.is((await failure(compareRuns([at('a')], { output: at('f.html') })))!.code, 'INVALID_ARGUMENT');
  assert.is((await failure(compareRuns([at('a'), `${at('a')}/`], { output: at('f.html') })))!.code, 'INVALID_ARGUMENT');
  assert.is((await failure(compareRuns([at('a'), folder], { output: at('f.html') })))!.code, 'RUN_INVALID');
});

test.run();
