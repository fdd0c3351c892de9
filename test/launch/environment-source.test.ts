import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { codeAgent, type CodeAgentMode } from '../../lib/environments/code-agent/index.js';
import { withChoices } from '../../lib/launch/environment-source.js';
import { FakeSandbox } from '../environments/fake-sandbox.js';

const tasks = [{ id: 'one', prompt: 'Add.', test: 'assert True' }];
const open = (mode: CodeAgentMode) => codeAgent({ tasks, sandbox: new FakeSandbox(), mode });
const all = open('multi-tool').tools.map(({ name }) => name);
const names = (mode: CodeAgentMode, tools: string[]) =>
  withChoices(open(mode), { tools }, all).tools.map(({ name }) => name);

test('a tool that a mode lacks is left out of that mode, and offered in the others', () => {
  assert.equal(names('multi-tool', ['search', 'submit']), ['search', 'submit']);
  assert.equal(names('code-only', ['search', 'submit']), ['submit']);
  assert.equal(names('no-tools', ['search', 'submit']), []);
  assert.equal(names('code-only', ['search']), []);
});

test('a tool that no mode has is an error that lists those there are', () => {
  assert.throws(
    () => names('code-only', ['serach']),
    /tool serach is unknown; the environment has: execute, submit, search/,
  );
  assert.throws(() => names('multi-tool', ['serach']), /the environment has: search, execute, submit/);
});

test('a weight that is no number is an error that says so', () => {
  const rewards = (entry: string) => withChoices(open('multi-tool'), { rewards: [entry] }, all).rewards;
  assert.is(rewards('outcome:0.5')[0]!.weight, 0.5);
  assert.throws(() => rewards('outcome:half'), /reward outcome:half: what follows the colon must be a number/);
  assert.throws(() => rewards('outcme:half'), /reward outcme:half is unknown; the environment has: code/);
});

test.run();
