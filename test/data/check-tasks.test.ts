import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkTasks } from '../../lib/data/check-tasks.js';
import type { CodeTask } from '../../lib/data/types.js';
import { FakeSandbox } from '../environments/fake-sandbox.js';

const tasks: CodeTask[] = ['pass', 'fail', 'infra', 'timeout', undefined, 'pass'].map((solution, index) => ({
  id: `t${index}`,
  prompt: 'p',
  test: 'assert True',
  ...(solution === undefined ? {} : { solution }),
}));

test('every solution is tested once, and counted by its verdict in the order of the file', async () => {
  const sandbox = new FakeSandbox(({ solution }) => ({ status: solution as 'pass', failures: [] }));
  const seen: string[] = [];
  const { seconds, ...result } = await checkTasks(tasks, sandbox, {
    concurrency: 3,
    onChecked: (task) => void seen.push(task.id),
  });
  assert.equal(result, {
    tasks: 6,
    passed: 2,
    failed: [
      { id: 't1', status: 'fail', testsRun: 2, failures: [] },
      { id: 't3', status: 'timeout', testsRun: 2, failures: [] },
    ],
    infra: [{ id: 't2', status: 'infra', testsRun: 2, failures: [] }],
    withoutSolution: ['t4'],
  });
  assert.ok(seconds >= 0);
  assert.equal(seen.sort(), ['t0', 't1', 't2', 't3', 't4', 't5']);
  assert.is(sandbox.tested.length, 5);
});

test("a task's own time limit comes before the general one", async () => {
  const sandbox = new FakeSandbox();
  await checkTasks([{ ...tasks[0]!, timeoutMs: 7 }, { ...tasks[5]! }], sandbox, { timeoutMs: 9, concurrency: 1 });
  assert.equal(
    sandbox.tested.map(({ timeoutMs }) => timeoutMs),
    [7, 9],
  );
});

test.run();
