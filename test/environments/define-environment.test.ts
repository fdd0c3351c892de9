import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { defineEnvironment, defineReward, defineTool } from '../../lib/environments/index.js';

const add = {
  name: 'add',
  description: 'Adds two numbers.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  run: ({ a, b }: Record<string, unknown>) => String(Number(a) + Number(b)),
};
const right = { name: 'right', score: () => 1 };
const base = {
  name: 'sums',
  tasks: [{ id: '1', prompt: '1 + 1?' }],
  tools: [add],
  rewards: [right],
  prompt: (task: { prompt: string }) => [{ role: 'user' as const, content: task.prompt }],
};

test('an environment speaks Hermes, shows its tools and has five turns unless told otherwise', () => {
  const environment = defineEnvironment(base);
  assert.is(environment.format.name, 'hermes');
  assert.is(environment.maxTurns, 5);
  assert.is(environment.toolsInTemplate, true);
  assert.is(environment.rewards[0]!.weight, 1);
  assert.equal(
    environment.format.parse('<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>').calls,
    [{ tool: 'add', args: { a: 1, b: 2 } }],
  );
});

test('another format can be chosen by name', () => {
  assert.is(defineEnvironment({ ...base, format: 'llama-json' }).format.name, 'llama-json');
});

test('an environment refuses what it does not know', () => {
  const cases: [object, RegExp][] = [
    [{ maxTurn: 3 }, /unknown key "maxTurn"; did you mean "maxTurns"\?/],
    [{ tasks: [] }, /tasks must be an array with at least one task/],
    [{ tasks: [{ id: 1, prompt: 'x' }] }, /tasks\[0\] must have an id and a prompt/],
    [{ tasks: [...base.tasks, ...base.tasks] }, /two tasks have the id '1'/],
    [{ tools: [add, add] }, /two tools have the name 'add'/],
    [{ rewards: [] }, /rewards must not be empty/],
    [{ maxTurns: 0 }, /maxTurns must be an integer of at least 1, but is 0/],
    [{ prompt: 'hi' }, /prompt must be a function/],
    [{ name: '' }, /name must be a string that is not empty/],
  ];
  for (const [change, message] of cases) {
    assert.throws(() => defineEnvironment({ ...base, ...change }), message);
  }
});

test('a tool refuses what it does not know', () => {
  const cases: [object, RegExp][] = [
    [{ timeout: 3 }, /unknown key "timeout"/],
    [{ name: 'a b' }, /name must consist of letters/],
    [{ description: undefined }, /description of tool 'add' must be a string/],
    [{ parameters: [] }, /parameters of tool 'add' must be a JSON Schema object/],
    [{ parameters: { type: 'thing' } }, /parameters of tool 'add' must be a JSON Schema: /],
    [{ run: 1 }, /run of tool 'add' must be a function/],
    [{ timeoutMs: -1 }, /timeoutMs of tool 'add' must be a positive number/],
    [{ keep: 'middle' }, /keep of tool 'add' must be 'start' or 'end'/],
  ];
  for (const [change, message] of cases) assert.throws(() => defineTool({ ...add, ...change }), message);
  assert.is(defineTool(add).name, 'add');
});

test('a reward refuses what it does not know', () => {
  assert.throws(
    () => defineReward({ ...right, wait: 1 } as never),
    /unknown key "wait"; known are |unknown key "wait"; did you mean/,
  );
  assert.throws(() => defineReward({ ...right, weight: NaN }), /weight of reward 'right' must be a finite number/);
  assert.throws(() => defineReward({ name: 'x' } as never), /score of reward 'x' must be a function/);
});

test.run();
