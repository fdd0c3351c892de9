import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { codeAgent, type CodeAgentOptions } from '../../lib/environments/code-agent/index.js';
import type { CodeTask } from '../../lib/data/types.js';
import type { CodeOutcome } from '../../lib/tools/submit.js';
import { FakeSandbox } from './fake-sandbox.js';
import { play } from './play.js';

const tasks: CodeTask[] = [
  {
    id: 'one',
    prompt: 'Write add(a, b).',
    test: 'assert add(1, 2) == 3\nassert add(0, 0) == 0\n',
    style: 'assert',
    entryPoint: 'add',
  },
];
const documentation = {
  search: (query: string) => [{ name: 'sorted', signature: 'sorted(iterable)', text: `about ${query}`, score: 1 }],
};
const fence = (info: string, code: string) => `\`\`\`${info}\n${code}\n\`\`\``;
const right = fence('submit', 'def add(a, b):\n    return a + b');
const wrong = fence('submit', 'def add(a, b):\n    return a - b');
const passing = /a \+ b/;
const judge = ({ solution }: { solution: string }) =>
  passing.test(solution)
    ? { status: 'pass' as const }
    : { status: 'fail' as const, failures: [{ name: 'assert 1', message: 'AssertionError' }] };

const open = (options: Partial<CodeAgentOptions> = {}, sandbox = new FakeSandbox(judge)) =>
  codeAgent({ tasks, sandbox, documentation, ...options });

test('two tasks of one id are refused: episodes are kept by it', () => {
  assert.throws(() => open({ tasks: [tasks[0]!, tasks[0]!] }), /\[codeAgent\] two tasks have the id 'one'/);
});

test('the system message calls the model a Python expert with three tools, each with its form', () => {
  const [system, user] = open().prompt(tasks[0]!);
  assert.match(system!.content, /^You are a Python expert with three tools: search, execute and submit\./);
  for (const form of [
    /<search>[^<]+<\/search>/,
    /\n```python\n/,
    /\n```submit\n/,
    /any order/,
    /before you write code/,
  ]) {
    assert.match(system!.content, form);
  }
  assert.is(user!.role, 'user');
  assert.is(user!.content, 'Write add(a, b).');
});

test('search, execute, submit: the episode ends with the passing submission', async () => {
  const sandbox = new FakeSandbox(judge, () => ({ stdout: '3\n' }));
  const { finish, score, figures, seen, episode } = await play(open({}, sandbox), [
    'Look: <search>add numbers</search>',
    fence('python', 'print(1 + 2)'),
    right,
    'never reached',
  ]);
  assert.is(finish, 'done');
  assert.equal(score, { value: 1, parts: { passed: 1, searches: 0, noSubmission: 0 } });
  assert.is(seen[2], '<doc_result>\nsorted(iterable)\nabout add numbers\n</doc_result>');
  assert.is(seen[3], '<exec_result>\n3\n</exec_result>');
  assert.is(episode.turns.length, 3);
  assert.is(sandbox.ran[0]!.code, 'print(1 + 2)');
  assert.is(sandbox.tested[0]!.entryPoint, 'add');
  assert.equal(
    [figures['pass'], figures['submitted'], figures['tool_search'], figures['tool_execute'], figures['tool_submit']],
    [1, 1, 1, 1, 1],
  );
});

test('a failing submission is told to mend and may be mended', async () => {
  const { finish, score, seen } = await play(open(), [wrong, right]);
  assert.is(finish, 'done');
  assert.equal(score, { value: 1, parts: { passed: 1, searches: 0, noSubmission: 0 } });
  assert.is(
    seen[2],
    '<test_result>\nFAIL: 1 of 2 tests failed\nassert 1: AssertionError\n</test_result>\nMend the solution and submit it again.',
  );
});

test('three submissions end a training episode, one an evaluation', async () => {
  const training = await play(open(), [wrong, wrong, wrong, right]);
  assert.is(training.finish, 'done');
  assert.is(training.episode.turns.length, 3);
  assert.equal(training.score, { value: 0, parts: { passed: 0, searches: 0, noSubmission: 0 } });
  const evaluation = await play(open(), [wrong, right], 'eval');
  assert.is(evaluation.episode.turns.length, 1);
  assert.is(evaluation.figures['pass'], 0);
  const any = await play(open({ maxEvalSubmissions: Infinity }), [wrong, wrong, wrong, wrong, right], 'eval');
  assert.is(any.figures['pass'], 1);
});

test('a failed episode is paid 0.05 a search, three at most', async () => {
  const search = '<search>x</search>';
  const paid = async (searches: string[], options: Partial<CodeAgentOptions> = {}) =>
    (await play(open({ maxTurns: 6, maxSubmissions: 1, ...options }), [...searches, wrong])).score;
  assert.equal(await paid([search]), { value: 0.05, parts: { passed: 0, searches: 0.05, noSubmission: 0 } });
  const five = (await paid([search, search, search, search, search])) as { value: number };
  assert.ok(Math.abs(five.value - 0.15) < 1e-12);
  const distinct = (await paid([search, '<search> X </search>', '<search>y</search>'], { distinctSearches: true })) as {
    value: number;
  };
  assert.is(distinct.value, 0.1);
});

test('searchCost takes its part off a passing episode only', async () => {
  const search = '<search>x</search>';
  const paid = async (replies: string[]) =>
    (await play(open({ maxTurns: 4, maxSubmissions: 1, searchCost: 0.05 }), replies)).score;
  assert.equal(await paid([search, search, right]), {
    value: 0.9,
    parts: { passed: 1, searches: 0, noSubmission: 0, searchCost: -0.1 },
  });
  assert.equal(await paid([search, wrong]), {
    value: 0.05,
    parts: { passed: 0, searches: 0.05, noSubmission: 0, searchCost: 0 },
  });
});

test('never submitted is -0.1 in place of everything else', async () => {
  const { score, figures } = await play(open(), ['<search>x</search>', right.replace('submit', 'python')]);
  assert.equal(score, { value: -0.1, parts: { passed: 0, searches: 0, noSubmission: -0.1 } });
  assert.is(figures['submitted'], 0);
  assert.is(figures['pass'], 0);
});

test('a turn without a call is answered by one user line that names the forms', async () => {
  const { seen, episode } = await play(open(), ['I think it is easy.', right]);
  assert.match(seen[2]!, /^No call was found\. Write <search>QUERY<\/search> .*```python.*```submit/);
  assert.is(seen[2]!.split('\n').length, 1);
  assert.equal(
    episode.messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'user', 'assistant'],
  );
});

test('an evaluation without a submission has its last code block graded, and says that nothing was submitted', async () => {
  const block = fence('python', 'def add(a, b):\n    return a + b');
  const sandbox = new FakeSandbox(judge);
  const { episode, figures } = await play(open({}, sandbox), ['```python\nadd = None\n```', block, 'done'], 'eval');
  assert.equal(episode.outcome, {
    passed: true,
    submitted: false,
    graded: true,
    status: 'pass',
    fraction: 1,
  } satisfies CodeOutcome);
  assert.is(figures['pass'], 1);
  assert.is(figures['submitted'], 0);
  assert.is(sandbox.tested.length, 1);
  const nothing = await play(open(), ['no code'], 'eval');
  assert.equal(nothing.episode.outcome, {
    passed: false,
    submitted: false,
    graded: false,
    status: 'no-code',
    fraction: 0,
  });
});

test('training does not grade what was not submitted', async () => {
  const sandbox = new FakeSandbox(judge);
  await play(open({}, sandbox), [fence('python', 'def add(a, b): return a + b')]);
  assert.is(sandbox.tested.length, 0);
});

test('no-tools: one reply, its last block is graded with the same extraction', async () => {
  const environment = open({ mode: 'no-tools' });
  assert.is(environment.maxTurns, 1);
  assert.equal(environment.tools, []);
  assert.equal(environment.format.stop, []);
  const { figures, episode, score } = await play(
    environment,
    [`First\n${fence('python', 'x = 1')}\nso\n${fence('', 'def add(a, b):\n    return a + b')}\nDone.`],
    'eval',
  );
  assert.is(figures['pass'], 1);
  assert.equal(score, { value: 1, parts: { passed: 1, searches: 0, noSubmission: 0 } });
  assert.is((episode.outcome as CodeOutcome).submitted, false);
  assert.equal((await play(environment, ['no idea'])).score, {
    value: -0.1,
    parts: { passed: 0, searches: 0, noSubmission: -0.1 },
  });
});

test('the files of a task lie beside programs that the agent runs, as beside its tests', async () => {
  const sandbox = new FakeSandbox(judge, () => ({ stdout: '4\n' }));
  const files = { 'kimo.py': 'def vatu(x):\n    return x + 1\n' };
  const task = { ...tasks[0]!, files };
  const environment = codeAgent({ tasks: [task], sandbox, documentation });
  await play(environment, [fence('python', 'import kimo\nprint(kimo.vatu(3))'), right], 'train', task);
  assert.equal(sandbox.ran[0]!.files, files);
  assert.equal(sandbox.tested[0]!.files, files);
});

test('code-only: execute and submit, three turns', () => {
  const environment = open({ mode: 'code-only' });
  assert.is(environment.maxTurns, 3);
  assert.equal(
    environment.tools.map(({ name }) => name),
    ['execute', 'submit'],
  );
  assert.not.match(environment.prompt(tasks[0]!)[0]!.content, /<search>/);
});

test('a sandbox that fails makes the episode invalid, whichever tool met it', async () => {
  const broken = new FakeSandbox(
    () => ({ status: 'infra', failures: [{ name: 'sandbox', message: 'no space' }] }),
    () => ({ status: 'infra', stderr: 'no space' }),
  );
  for (const reply of [right, fence('python', '1')]) {
    const { finish, score } = await play(open({}, broken), [reply]);
    assert.is(finish, 'invalid');
    assert.equal(score, { invalid: 'sandbox: no space' });
  }
  const graded = await play(open({ mode: 'no-tools' }, broken), [fence('python', 'def add(): pass')]);
  assert.equal(graded.score, { invalid: 'sandbox: no space' });
  const throwing = new FakeSandbox(() => {
    throw new Error('gone');
  });
  assert.equal((await play(open({}, throwing), [right])).score, { invalid: 'sandbox: gone' });
});

test('options that mean nothing are refused', () => {
  assert.throws(
    () => open({ maxSubmission: 2 } as never),
    /unknown key "maxSubmission"; did you mean "maxSubmissions"\?/,
  );
  assert.throws(() => open({ mode: 'tools' as never }), /mode must be one of multi-tool, code-only, no-tools/);
  assert.throws(() => open({ mode: 'no-tools', maxTurns: 3 }), /maxTurns does not apply to mode no-tools/);
  assert.throws(() => open({ maxTurns: 0 }), /maxTurns must be an integer of at least 1/);
  assert.throws(() => open({ tasks: [] }), /tasks must not be empty/);
  assert.throws(() => open({ tasks: [{ id: 'x', prompt: 'y' } as never] }), /task 'x' has no test/);
});

test.run();
