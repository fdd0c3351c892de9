import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { brokenSolution } from '../../lib/data/broken.js';
import { checkReferences, testTimeLimit, type CodeTask } from '../../lib/data/index.js';
import { FakeSandbox } from '../environments/fake-sandbox.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-references-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const task = (id: string, extra: Partial<CodeTask> = {}): CodeTask => ({
  id,
  prompt: id,
  test: `assert ${id}`,
  solution: `${id} = 1`,
  ...extra,
});
const tasks = [task('good'), task('bad'), task('slow'), task('open', { solution: undefined })];
const sandbox = () =>
  new FakeSandbox(({ solution }) => ({
    status: solution.startsWith('bad') ? 'fail' : 'pass',
    wallMs: solution.startsWith('slow') ? 20_000 : 5,
  }));

test('tasks whose own solution fails are left out, passes are kept on disk, failures are tried again', async () => {
  const options = { python: 'python3', cacheFile: join(folder, 'a', 'references.jsonl') };
  const first = sandbox();
  const { kept, excluded, known } = await checkReferences(tasks, first, options);
  assert.equal(
    kept.map(({ id, timeoutMs }) => [id, timeoutMs]),
    [
      ['good', 30_000],
      ['slow', 100_000],
      ['open', undefined],
    ],
  );
  assert.equal(
    excluded.map(({ id, status }) => [id, status]),
    [['bad', 'fail']],
  );
  assert.equal([known, first.tested.length], [0, 3]);
  assert.is(first.tested[0]!.timeoutMs, 240_000, 'the reference has the longest limit');

  appendFileSync(options.cacheFile, '{"key":"cut');
  const second = sandbox();
  const again = await checkReferences(tasks, second, options);
  assert.equal(again.kept, kept);
  assert.equal([again.known, second.tested.map(({ solution }) => solution)], [2, ['bad = 1']]);

  const third = sandbox();
  const changed = [task('good', { test: 'assert good == 1' }), tasks[2]!];
  await checkReferences(changed, third, options);
  assert.is(third.tested.length, 1, 'other tests are another task');
  const fourth = sandbox();
  await checkReferences(tasks, fourth, { ...options, python: 'python3.12' });
  assert.is(fourth.tested.length, 3, 'another interpreter may lack a package');
});

test('the limit is the task’s own, or five times the reference, 30 seconds at least', () => {
  assert.is(testTimeLimit(task('a'), 100), 30_000);
  assert.is(testTimeLimit(task('a'), 9000.2), 45_001);
  assert.is(testTimeLimit(task('a', { timeoutMs: 700 }), 9000), 700);
});

test('a broken solution keeps its text, and every function of it returns None', () => {
  const broken = brokenSolution(
    task('a', {
      solution: 'import math\ndef f(x):\n    def inner(): pass\n    return x\nasync def g(): ...',
      entryPoint: 'h',
    }),
  )!;
  assert.ok(broken.startsWith('import math\ndef f(x):'));
  for (const name of ['f', 'g', 'h'])
    assert.ok(broken.includes(`\ndef ${name}(*values, **named):\n    return None\n`), name);
  assert.not.ok(broken.includes('def inner(*'));
  assert.is(brokenSolution(task('a', { solution: 'x = 1' })), undefined);
  assert.is(brokenSolution(task('a', { solution: undefined })), undefined);
});

test.run();
