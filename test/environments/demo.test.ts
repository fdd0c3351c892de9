import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { demoAgent, demoDocumentation, drawDemoTasks } from '../../lib/environments/demo/index.js';
import type { DemoTask } from '../../lib/environments/demo/index.js';
import type { RewardScore } from '../../lib/environments/types.js';
import type { SandboxLike } from '../../lib/sandbox/types.js';
import { play } from './play.js';

const SIZES = { training: 200, unseen: 60 };
const drawn = drawDemoTasks(5, SIZES);

/** Passes exactly the reference solutions. */
const knowing: SandboxLike = {
  backend: 'process',
  run: () => Promise.resolve({ status: 'ok', exitCode: 0, stdout: '7\n', stderr: '', wallMs: 1 }),
  test: ({ solution, test: tests }) => {
    const { solution: right } = [...drawn.training, ...drawn.unseen].find((task) => task.test === tests)!;
    const passes = solution.trim() === right.trim();
    return Promise.resolve({
      status: passes ? 'pass' : 'fail',
      testsRun: 3,
      failures: passes ? [] : [{ name: 'solve', message: 'AssertionError' }],
      wallMs: 1,
    });
  },
  close: () => Promise.resolve(),
};

const namesOf = ({ solution, guess }: DemoTask) => (solution + guess).match(/\b[a-z]{4}\b(?=\.|\(x\))/g) ?? [];
const needing = (tasks: readonly DemoTask[]) => tasks.filter(({ needsSearch }) => needsSearch);

test('the same seed draws the same tasks, another seed others', () => {
  assert.equal(drawDemoTasks(5, SIZES), drawn);
  const others = needing(drawDemoTasks(6, SIZES).training).map(({ prompt }) => prompt);
  assert.equal(
    needing(drawn.training).filter(({ prompt }) => others.includes(prompt)),
    [],
  );
});

test('three quarters need the documentation, in either split', () => {
  assert.is(needing(drawn.training).length, 150);
  assert.is(needing(drawn.unseen).length, 45);
});

test('no two tasks share a module, a function or a notion', () => {
  const names = needing([...drawn.training, ...drawn.unseen]).flatMap((task) => [...new Set(namesOf(task))]);
  assert.is(names.length, 195 * 3);
  assert.is(new Set(names).size, names.length);
});

test('a search in the words of a task finds what it needs first, and the task itself never tells', () => {
  const documentation = demoDocumentation(drawn);
  for (const { query, solution, prompt } of needing(drawn.unseen)) {
    const [hit] = documentation.search(query, 1);
    assert.ok(solution.includes(`${hit!.name}(x)`), query);
    assert.not.ok(prompt.includes(hit!.name.split('.')[1]!), prompt);
  }
});

const paid = ({ value }: Exclude<RewardScore, number | { invalid: string }>) => Math.round(value * 1e9) / 1e9;
const open = (searchCost?: number) => demoAgent({ tasks: drawn, sandbox: knowing, searchCost, maxSubmissions: 1 });
const submit = (code: string) => `\`\`\`submit\n${code}\`\`\``;

test('a task that needs it is passed after a search and failed by a guess; the search costs a little', async () => {
  const [task] = needing(drawn.unseen);
  const searched = await play(open(0.05), [`<search>${task!.query}</search>`, submit(task!.solution)], 'train', task);
  assert.is(searched.figures['pass'], 1);
  assert.is(paid(searched.score as { value: number }), 0.95);
  assert.match(searched.seen[2]!, /^<doc_result>\n[a-z]{4}\.[a-z]{4}\(x\)\nThe [a-z]{4} of x\.\n<\/doc_result>$/);
  const guessed = await play(open(0.05), [submit(task!.guess)], 'train', task);
  assert.is(guessed.figures['pass'], 0);
  assert.is(paid(guessed.score as { value: number }), 0);
});

test('an easy task is passed at once, and a needless search pays less', async () => {
  const easy = drawn.unseen.find(({ needsSearch }) => !needsSearch)!;
  const at = async (cost: number, replies: string[]) =>
    paid((await play(open(cost), replies, 'train', easy)).score as { value: number });
  const needless = [`<search>${easy.query}</search>`, submit(easy.solution)];
  assert.is(await at(0.05, [submit(easy.solution)]), 1);
  assert.is(await at(0.05, needless), 0.95);
  assert.is(await at(0, needless), 1);
});

test('the system message is short and names the forms of the mode', () => {
  const systemOf = (mode: 'multi-tool' | 'code-only' | 'no-tools') => {
    const environment = demoAgent({ tasks: drawn, sandbox: knowing, mode });
    return environment.prompt(drawn.training[0]!)[0]!.content;
  };
  assert.match(systemOf('multi-tool'), /<search>.*\n```python.*\n```submit/);
  assert.not.match(systemOf('code-only'), /search/);
  assert.not.match(systemOf('no-tools'), /submit/);
});

test.run();
