import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Sandbox } from '../../lib/sandbox/index.js';
import type { TestStyle } from '../../lib/sandbox/types.js';
import { skipAloud } from '../harness.js';
import { CHEATS, RIGHT, TESTS } from './verdict-cases.js';

let sandbox: Sandbox;
try {
  sandbox = await Sandbox.open();
} catch (error) {
  skipAloud((error as Error).message);
}
const fixtures = join(import.meta.dirname, '../fixtures/sandbox');
const records = <T>(name: string): T[] =>
  readFileSync(join(fixtures, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

for (const [style, source] of Object.entries(TESTS)) {
  const judge = (solution: string) =>
    sandbox.test({ solution, test: source, entryPoint: 'task_func', timeoutMs: 20_000, memoryMb: 300 });

  test(`a right solution passes tests of style ${style}, printing or not`, async () => {
    for (const solution of [RIGHT, `import logging\nlogging.basicConfig()\nprint("hello")\n${RIGHT}`]) {
      const result = await judge(solution);
      assert.equal([result.status, result.testsRun, result.failures], ['pass', style === 'check' ? 1 : 2, []]);
    }
  });

  for (const [name, solution] of Object.entries(CHEATS)) {
    test(`a solution that ${name} fails tests of style ${style}`, async () => {
      const result = await judge(solution);
      assert.is(result.status, 'fail', JSON.stringify(result));
      assert.ok(result.failures.length > 0);
      for (const failure of result.failures) assert.ok(failure.name.length > 0 && failure.message.length <= 2000);
    });
  }

  test(`a solution that loops is a timeout in style ${style}`, async () => {
    const result = await sandbox.test({
      solution: 'while True: pass',
      test: source,
      entryPoint: 'task_func',
      timeoutMs: 1000,
    });
    assert.is(result.status, 'timeout');
  });
}

interface HumanEval {
  prompt: string;
  canonical_solution: string;
  test: string;
  entry_point: string;
}

test('HumanEval records accept a completion and a whole function, and refuse return None', async () => {
  for (const record of records<HumanEval>('humaneval.jsonl')) {
    const judge = (solution: string) =>
      sandbox.test({ solution, test: record.test, codePrompt: record.prompt, entryPoint: record.entry_point });
    assert.is((await judge(record.canonical_solution)).status, 'pass');
    assert.is((await judge(record.prompt + record.canonical_solution)).status, 'pass');
    assert.is((await judge('    return None\n')).status, 'fail');
    assert.is((await judge(`def ${record.entry_point}(*values):\n    return None\n`)).status, 'fail');
  }
});

test('MBPP records count their assertions', async () => {
  for (const record of records<{ code: string; test_imports: string[]; test_list: string[] }>('mbpp.jsonl')) {
    const source = [...record.test_imports, ...record.test_list].join('\n');
    const good = await sandbox.test({ solution: record.code, test: source });
    assert.equal([good.status, good.testsRun], ['pass', record.test_list.length]);
    const name = /def (\w+)/.exec(record.code)?.[1] ?? '';
    const bad = await sandbox.test({ solution: `def ${name}(*values):\n    return None\n`, test: source });
    assert.is(bad.status, 'fail');
  }
});

test('a stub completes the imports of a solution of a whole function', async () => {
  const codePrompt = 'import math\ndef task_func(x):\n    """Doc."""';
  const source =
    'import unittest\nclass TestCases(unittest.TestCase):\n    def test_a(self): self.assertEqual(task_func(4), 2.0)\n';
  const options = { test: source, entryPoint: 'task_func' };
  const solution = 'def task_func(x):\n    return math.sqrt(x)\n';
  assert.is((await sandbox.test({ ...options, solution, codePrompt })).status, 'pass');
  assert.is((await sandbox.test({ ...options, solution })).status, 'fail');
});

test('tests that hold nothing to run fail', async () => {
  for (const [style, source] of [
    ['unittest', 'import unittest\nclass TestCases(unittest.TestCase):\n    def helper(self): pass\n'],
    ['unittest', 'x = 1'],
    ['pytest', 'import solution\ndef helper(): pass\n'],
    ['assert', 'x = 1'],
  ] as [TestStyle, string][]) {
    const result = await sandbox.test({ solution: RIGHT, test: source, style });
    assert.equal([result.status, result.testsRun], ['fail', 0], JSON.stringify(result));
  }
});

test('tests of style check that define no check fail and say so, whatever the solution defines', async () => {
  for (const solution of [RIGHT, `${RIGHT}def check(candidate): pass\n`]) {
    const result = await sandbox.test({ solution, test: 'x = 1', style: 'check', entryPoint: 'task_func' });
    assert.is(result.status, 'fail');
    assert.is(result.failures[0]!.message, 'the tests define no function check');
  }
});

test('tests that do not compile are no fault of the solution', async () => {
  const result = await sandbox.test({ solution: RIGHT, test: 'assert (' });
  assert.is(result.status, 'infra');
});

test('failures name the test and the line of the solution, never the source of the tests', async () => {
  const result = await sandbox.test({ solution: 'def task_func(x):\n    return 1 // 0\n', test: TESTS.assert });
  assert.is(result.failures[0]?.name, 'assert 1');
  assert.match(
    result.failures[0]?.message ?? '',
    /^ZeroDivisionError: .* by zero \(solution.py, line 2, in task_func\)$/,
  );
  const wrong = await sandbox.test({ solution: 'def task_func(x): return 5', test: TESTS.unittest });
  assert.equal(wrong.failures[0], { name: 'TestCases.test_a', message: 'AssertionError: 5 != 2' });
});

test('of a solution that pytest cannot import the error is told, not the way of pytest to it', async () => {
  for (const [solution, error] of [
    ['def task_func(x:', /SyntaxError: /],
    ['def other(x): return x', /ImportError: cannot import name 'task_func'/],
    ['raise ValueError("mine")', /ValueError: mine/],
  ] as const) {
    const { status, failures } = await sandbox.test({ solution, test: TESTS.pytest });
    assert.is(status, 'fail');
    const { message } = failures[0]!;
    assert.match(message.slice(0, 200), error);
    assert.not.match(message, /_pytest|importlib/);
  }
});

test('mocks, fixtures of classes and skipped tests of the record work', async () => {
  const source = `import unittest
from unittest.mock import patch
class TestCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.x = 1
    @patch('builtins.print')
    def test_mock(self, p):
        self.assertEqual(task_func(self.x), 2)
    @unittest.skip('not here')
    def test_skipped(self): self.fail()
`;
  assert.is((await sandbox.test({ solution: RIGHT, test: source })).status, 'pass');
});

test.after(async () => {
  await sandbox.close();
});

test.run();
