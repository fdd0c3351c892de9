import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { describeVerdict } from '../../lib/tools/submit.js';

const task = {
  id: 't',
  prompt: 'p',
  test: 'from solution import add\n\ndef test_add():\n    value = add(20, 22)\n    assert value == 4242\n',
};
const result = (status: 'pass' | 'fail' | 'timeout', failures: [string, string][], testsRun = 5) => ({
  status,
  testsRun,
  wallMs: 1,
  failures: failures.map(([name, message]) => ({ name, message })),
});

test('a pass says how many tests ran', () => {
  assert.is(describeVerdict(result('pass', []), task), 'PASS: 5 tests passed');
  assert.is(describeVerdict(result('pass', [], 1), task), 'PASS: 1 test passed');
});

test('a fail shows the first three failures', () => {
  const failures = [1, 2, 3, 4].map((n): [string, string] => [`test_${n}`, `AssertionError: ${n} != 0`]);
  assert.is(
    describeVerdict(result('fail', failures), task),
    'FAIL: 4 of 5 tests failed\ntest_1: AssertionError: 1 != 0\ntest_2: AssertionError: 2 != 0\ntest_3: AssertionError: 3 != 0',
  );
});

test('lines of the tests are never shown, whole or in an explanation', () => {
  const message =
    'value = add(20, 22)\n>   assert value == 4242\nE   assert -2 == 4242\nE    +  where -2 = add(20, 22)\nAssertionError: wrong';
  const text = describeVerdict(result('fail', [['assert value == 4242', message]]), task);
  assert.not.match(text, /add\(20, 22\)/);
  assert.not.match(text, /value == 4242/);
  assert.match(text, /AssertionError: wrong/);
});

test('a message that quotes the tests alone is still a failure', () => {
  assert.is(
    describeVerdict(result('fail', [['test_add', 'assert value == 4242']], 1), task),
    'FAIL: 1 of 1 test failed\ntest_add: failed',
  );
});

test('a timeout and a run without tests are fails', () => {
  assert.is(describeVerdict(result('timeout', []), task), 'FAIL: the tests did not end in time');
  assert.match(
    describeVerdict(result('fail', [['solution', 'SyntaxError: x']], 0), task),
    /^FAIL: no test could run\nsolution: SyntaxError: x$/,
  );
});

test('a long message is cut', () => {
  const text = describeVerdict(result('fail', [['t', 'x'.repeat(5000)]]), task);
  assert.ok(text.length < 400);
});

test.run();
