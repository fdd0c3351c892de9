import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileURLToPath } from 'node:url';
import { loadTasks, parseTasks } from '../../lib/data/load-tasks.js';
import { mbppTarget } from '../../lib/data/mbpp.js';
import { GrpoError } from '../../lib/errors.js';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tasks/${name}`, import.meta.url));

const failure = (content: string): GrpoError => {
  try {
    parseTasks(content, 'tasks.jsonl');
  } catch (error) {
    return error as GrpoError;
  }
  throw new Error('no error');
};

test('MBPP: the prompt names the function and shows one assert, the tests stay whole', async () => {
  const [task] = await loadTasks(fixture('mbpp.jsonl'));
  assert.is(task!.id, 'MBPP/2');
  assert.is(task!.entryPoint, 'similar_elements');
  assert.is(task!.style, 'assert');
  assert.is(
    task!.prompt,
    'Write a function to find the shared elements from the given two lists.\n\nYour code must define `def similar_elements(test_tup1, test_tup2):`\n\nFor example:\nassert set(similar_elements((3, 4, 5, 6),(5, 7, 4, 10))) == set((4, 5))',
  );
  assert.is(task!.test.trim().split('\n').length, 3);
  assert.match(task!.solution!, /^def similar_elements/);
});

test('MBPP: imports and set-up code come before the asserts, and the older shape is read', () => {
  const record = {
    task_id: 9,
    text: 'Do it.',
    code: 'def f(x):\n  return x',
    test_list: ['assert f(1) == 1'],
    test_setup_code: 'import math',
  };
  const [task] = parseTasks(JSON.stringify(record), 'x.jsonl');
  assert.is(task!.test, 'import math\nassert f(1) == 1\n');
});

test('MBPP: the function that the tests call is found among several', () => {
  const code = 'def helper(a):\n  return a\ndef main_one(a,\n    b=(1, 2)):\n  return helper(a)';
  assert.equal(mbppTarget(code, ['assert set(main_one(1)) == {1}']), {
    name: 'main_one',
    signature: 'def main_one(a, b=(1, 2)):',
  });
  assert.is(mbppTarget('x = 1', ['assert x == 1']), undefined);
});

test('HumanEval: the whole solution is prompt and body, the stub is kept for calibration', async () => {
  const [task] = await loadTasks(fixture('humaneval.jsonl'));
  assert.is(task!.id, 'HumanEval/0');
  assert.is(task!.style, 'check');
  assert.is(task!.entryPoint, 'has_close_elements');
  assert.ok(task!.solution!.startsWith(task!.codePrompt!));
  assert.match(task!.prompt, /^Complete this function:\n\n```\nfrom typing/);
});

test('KodCode: the signature of test_info stands in the prompt, the tests are pytest', async () => {
  const [task] = await loadTasks(fixture('kodcode.jsonl'));
  assert.is(task!.id, 'Prefill_1_I');
  assert.is(task!.style, 'pytest');
  assert.is(task!.entryPoint, 'square_sum');
  assert.match(task!.prompt, /Your code must define `def square_sum\(values\):`\.$/);
  assert.is(task!['difficulty'], 'easy');
});

test('BigCodeBench: the instruction is the prompt, stub and body are the solution', async () => {
  const [task] = await loadTasks(fixture('bigcodebench.jsonl'));
  assert.is(task!.id, 'BigCodeBench/0');
  assert.is(task!.style, 'unittest');
  assert.is(task!.entryPoint, 'task_func');
  assert.is(task!.solution, 'import json\ndef task_func(text):\n    return len(json.loads(text))\n');
});

test('plain records keep their other keys and get an id from their place', () => {
  const tasks = parseTasks(
    '{"prompt": "p", "test": "assert True", "level": 3}\n\n{"id": "b", "prompt": "q", "test": "assert True"}\n',
    'x',
  );
  assert.equal(tasks[0], { prompt: 'p', test: 'assert True', level: 3, id: '0' });
  assert.is(tasks[1]!.id, 'b');
});

test('a bad line is an INVALID_TASKS error with file and line number', () => {
  const good = '{"prompt": "p", "test": "assert True"}\n';
  const cases: [string, RegExp][] = [
    [`${good}{"prompt": "p",`, /tasks\.jsonl:2: not valid JSON/],
    [`${good}\n[1]`, /tasks\.jsonl:3: a JSON object is needed, one a line/],
    ['[\n{"prompt": "p"}\n]', /tasks\.jsonl:1: not valid JSON: .*; a whole record must stand in each line/],
    ['{\n"prompt": "p"}', /tasks\.jsonl:1: not valid JSON: .*; a whole record must stand in each line/],
    [`${good}{"question": "q"}`, /tasks\.jsonl:2: no known record: its keys are question; known are BigCodeBench/],
    [`${good}{"prompt": "p", "test": 4}`, /tasks\.jsonl:2: plain record: test: /],
    [`${good}{"prompt": "p", "test": "t", "style": "nose"}`, /tasks\.jsonl:2: plain record: style: /],
    ['{"task_id": 1, "code": "x", "test_list": []}', /tasks\.jsonl:1: MBPP record: /],
    [
      `{"id": "a", "prompt": "p", "test": "t"}\n{"id": "a", "prompt": "p", "test": "t"}`,
      /tasks\.jsonl:2: the id 'a' stands in tasks\.jsonl:1 already/,
    ],
    ['\n\n', /tasks\.jsonl has no task/],
  ];
  for (const [content, message] of cases) {
    const error = failure(content);
    assert.is(error.code, 'INVALID_TASKS');
    assert.match(error.message, message);
  }
});

test('a file that is missing is IO_FAILED, one that is no text INVALID_TASKS', async () => {
  const code = (file: string) =>
    loadTasks(file).then(
      () => '',
      (error: GrpoError) => error.code,
    );
  assert.is(await code('/nonexistent.jsonl'), 'IO_FAILED');
  assert.is(
    await code(fileURLToPath(new URL('../../lib/tools/documentation/data/python-stdlib.json.gz', import.meta.url))),
    'INVALID_TASKS',
  );
});

test('the sample has thirty tasks with a function, a solution and tests', async () => {
  const tasks = await loadTasks(fileURLToPath(new URL('../../examples/mbpp-sample.jsonl', import.meta.url)));
  assert.is(tasks.length, 30);
  for (const task of tasks) {
    assert.ok(task.entryPoint !== undefined && task.solution !== undefined, task.id);
    assert.match(task.test, /assert/);
  }
});

test('limits and files that the sandbox would refuse are refused with the line that has them', () => {
  const refused = (keys: object, message: RegExp) => {
    const error = failure(`${JSON.stringify({ prompt: 'x', test: 'assert f()', ...keys })}\n`);
    assert.is(error.code, 'INVALID_TASKS');
    assert.match(error.message, message);
  };
  refused({ timeoutMs: 1.5 }, /tasks\.jsonl:1: plain record: timeoutMs: /);
  refused({ timeoutMs: 1e12 }, /tasks\.jsonl:1: plain record: timeoutMs: /);
  refused({ memoryMb: 1 }, /tasks\.jsonl:1: plain record: memoryMb: .*16/);
  refused({ files: { '../x': '' } }, /tasks\.jsonl:1: plain record: files: "\.\.\/x" must be a relative path/);
  for (const name of ['main.py', 'solution.py', 'test_solution.py']) {
    refused({ files: { [name]: '' } }, /tasks\.jsonl:1: plain record: files: ".*" is the name of the program itself/);
  }
});

test('options that mean nothing are refused by name', async () => {
  const message = async (...given: unknown[]) =>
    (loadTasks as (...given: unknown[]) => Promise<unknown>)(...given).then(
      () => 'loaded',
      (error: GrpoError) => `${error.code} ${error.message}`,
    );
  assert.match(await message(fixture('mbpp.jsonl'), { tak: 1 }), /^INVALID_ARGUMENT .*"tak"; did you mean "take"/);
  assert.match(await message(fixture('mbpp.jsonl'), { take: 0 }), /^INVALID_ARGUMENT .*take must be a whole number/);
  assert.match(await message(undefined), /^INVALID_ARGUMENT .*a file or a data set of the hub must be given/);
});

test.run();
