import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { executeTool } from '../../lib/tools/execute.js';
import type { RunResult } from '../../lib/sandbox/types.js';
import type { ToolContext, ToolOutput } from '../../lib/environments/types.js';
import { FakeSandbox } from '../environments/fake-sandbox.js';

const task = { id: 'one', prompt: '' };
const context = { task, signal: new AbortController().signal } as ToolContext;
const run = async (result: Partial<RunResult>) =>
  (await executeTool(new FakeSandbox(undefined, () => result)).run({ code: 'x' }, context)) as ToolOutput;

test('a program shows what it printed, or that it printed nothing', async () => {
  assert.equal(await run({ stdout: 'a\nb\n' }), { text: 'a\nb' });
  assert.equal(await run({}), { text: '(the program printed nothing)' });
});

test('a failing program shows what it printed and the end of its trace', async () => {
  const trace = [
    'Traceback (most recent call last):',
    ...Array.from({ length: 20 }, (_, n) => `  line ${n}`),
    'ValueError: no',
  ];
  const output = await run({ status: 'error', exitCode: 1, stdout: 'a\n', stderr: `${trace.join('\n')}\n` });
  assert.is(output.isError, true);
  assert.match(output.text, /^a\nERROR: line 15\n/);
  assert.match(output.text, /\nValueError: no$/);
  assert.is((await run({ status: 'error', exitCode: 3 })).text, 'ERROR: the program ended with exit code 3');
});

test('limits say which one was crossed', async () => {
  assert.is((await run({ status: 'timeout' })).text, 'ERROR: the program was stopped after 10 seconds');
  assert.is((await run({ status: 'memory' })).text, 'ERROR: the program used more than 512 MB of memory');
  assert.is((await run({ status: 'output', stdout: 'aaa' })).text, 'aaa\nERROR: the program printed too much');
});

test('a sandbox that fails or throws makes the call invalid', async () => {
  assert.equal(await run({ status: 'infra', stderr: 'no fork' }), { text: '', invalid: 'sandbox: no fork' });
  const throwing = new FakeSandbox(undefined, () => {
    throw new Error('closed');
  });
  assert.equal(await executeTool(throwing).run({ code: 'x' }, context), { text: '', invalid: 'sandbox: closed' });
});

test.run();
