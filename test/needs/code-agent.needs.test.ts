import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileURLToPath } from 'node:url';
import { brokenTasks } from '../../lib/data/broken.js';
import { checkTasks, loadTasks } from '../../lib/data/index.js';
import { codeAgent } from '../../lib/environments/index.js';
import { Sandbox } from '../../lib/sandbox/index.js';
import { play } from '../environments/play.js';
import { skipAloud } from '../harness.js';

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
let sandbox: Sandbox;

test.before(async () => {
  try {
    sandbox = await Sandbox.open({ backend: 'bubblewrap' });
  } catch (error) {
    skipAloud((error as Error).message);
  }
});
test.after(() => sandbox.close());

test('every reference solution of the sample passes, and none of them with its last line replaced', async () => {
  const tasks = await loadTasks(path('examples/mbpp-sample.jsonl'));
  const { passed, failed, infra } = await checkTasks(tasks, sandbox);
  assert.equal({ passed, failed, infra }, { passed: 30, failed: [], infra: [] });
  const broken = tasks.map((task) => ({ ...task, solution: task.solution!.replace(/return.*/g, 'return None') }));
  const result = await checkTasks(broken, sandbox);
  assert.is(result.passed, 0);
  assert.is(result.failed.length, 30);
});

test('a solution of each record shape passes by its own style of tests', async () => {
  for (const shape of ['mbpp', 'humaneval', 'bigcodebench', 'kodcode']) {
    const { failed, infra } = await checkTasks(await loadTasks(path(`test/fixtures/tasks/${shape}.jsonl`)), sandbox);
    assert.equal([failed, infra], [[], []], shape);
  }
});

test('five records of BigCodeBench and KodCode each: the own solution passes, one that returns None fails', async () => {
  for (const name of ['bigcodebench-five', 'kodcode-five']) {
    const loaded = await loadTasks(path(`test/fixtures/tasks/${name}.jsonl`));
    const good = await checkTasks(loaded, sandbox);
    assert.equal([good.passed, good.failed, good.infra], [5, [], []], name);
    const { passed, failed, infra } = await checkTasks(brokenTasks(loaded), sandbox);
    assert.equal([passed, failed.length, infra], [0, 5, []], name);
  }
});

test('calibration: a solution that leaves out the imports of the stub passes, as the benchmark has it', async () => {
  const [task] = await loadTasks(path('test/fixtures/tasks/bigcodebench-five.jsonl'));
  const solution = task!.solution!.replace(/^import .*\n/, '');
  assert.not.match(solution, /import/);
  assert.is((await checkTasks([{ ...task!, solution }], sandbox)).passed, 1);
  assert.is((await checkTasks([{ ...task!, solution, codePrompt: undefined }], sandbox)).passed, 0);
});

test('an episode with real tools: search, a failing program, a failing and a passing submission', async () => {
  const tasks = await loadTasks(path('test/fixtures/tasks/mbpp.jsonl'));
  const { score, seen, figures } = await play(codeAgent({ tasks: tasks.slice(0, 1), sandbox }), [
    '<search>common elements of two sets</search>',
    '```python\nprint("before")\n1 / 0\n```',
    '```submit\ndef similar_elements(a, b):\n    return ()\n```',
    '```submit\ndef similar_elements(a, b):\n    return tuple(set(a) & set(b))\n```',
  ]);
  assert.match(seen[2]!, /^<doc_result>\n[^]*set\.intersection[^]*\n<\/doc_result>$/);
  assert.match(seen[3]!, /^<exec_result>\nbefore\nERROR: [^]*ZeroDivisionError: division by zero\n<\/exec_result>$/);
  assert.match(seen[4]!, /^<test_result>\nFAIL: 3 of 3 tests failed\n[^]*\n<\/test_result>\nMend the solution/);
  assert.not.match(seen[4]!, /similar_elements\(\(/);
  assert.is((score as { value: number }).value, 1);
  assert.is(figures['pass'], 1);
});

test.run();
