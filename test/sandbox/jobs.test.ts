import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { runJob, testJob } from '../../lib/sandbox/jobs.js';
import { warmthOf } from '../../lib/sandbox/pool.js';

const refused = (make: () => unknown, message: RegExp): void => {
  try {
    make();
    assert.unreachable('nothing was thrown');
  } catch (error) {
    assert.instance(error, GrpoError);
    assert.is((error as GrpoError).code, 'INVALID_ARGUMENT');
    assert.match((error as GrpoError).message, message);
  }
};

test('a job carries its limits with their defaults', () => {
  const job = runJob({ code: 'x' }, 64);
  assert.equal(job.limits, {
    timeoutMs: 10_000,
    memoryMb: 512,
    outputBytes: 65_536,
    fileBytes: 2 ** 26,
    processes: 64,
  });
  assert.is(testJob({ solution: '', test: '' }, 64).limits.timeoutMs, 30_000);
});

test('files are given as base64, whatever they hold', () => {
  const { files } = runJob({ code: '', files: { 'a/b.txt': 'é', c: new Uint8Array([0, 255]) } }, 0);
  assert.equal(files, { 'a/b.txt': 'w6k=', c: 'AP8=' });
});

for (const path of ['../x', '/x', 'a/../../x', 'a//b', '.', '', './x', 'a\0b', 'main.py']) {
  test(`the file path ${JSON.stringify(path)} is refused`, () => {
    refused(() => runJob({ code: '', files: { [path]: '' } }, 0), /files: /);
  });
}

test('files that the sandbox could not write are refused by name', () => {
  const files = (given: Record<string, string>) => () => runJob({ code: '', files: given }, 0);
  refused(files({ ['a'.repeat(256)]: '' }), /files: "a+…" is too long: a name may have 255 bytes/);
  refused(files({ ['ab/'.repeat(1400) + 'c']: '' }), /too long/);
  refused(files({ 'a/b': '', a: '' }), /files: "a\/b" needs the folder "a", which is a file/);
  refused(files({ 'main.py/x': '' }), /needs the folder "main.py"/);
  refused(files({ '\ud800': '' }), /is no name of a file/);
  refused(files({ a: 'x'.repeat(2 ** 26 + 1) }), /files: "a" has 65 MB, and a file may have 64 MB/);
  const half = 'x'.repeat(2 ** 25);
  const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, half]));
  refused(files(many), /files: they have 160 MB, and all together may have 128 MB/);
  assert.is(runJob({ code: '', files: { 'a/b': '', 'a/c': '', ab: '' } }, 0).files['ab'], '');
});

test('wrong options are refused by name', () => {
  refused(() => runJob({ code: 1 } as never, 0), /code: /);
  refused(() => runJob({ code: '', timeoutMs: -1 }, 0), /timeoutMs: /);
  refused(() => runJob({ code: '', timeoutMs: Number.NaN }, 0), /timeoutMs: /);
  refused(() => runJob({ code: '', memory: 5 } as never, 0), /memory/);
  refused(() => testJob({ solution: '', test: '', style: 'nose' as never }, 0), /style: /);
});

test('the interpreter that has imported what a job needs is chosen by its text', () => {
  assert.is(warmthOf(runJob({ code: 'import numpy as np' }, 0)), 'packages');
  assert.is(warmthOf(runJob({ code: 'import pytest' }, 0)), 'plain');
  assert.is(warmthOf(testJob({ solution: '', test: 'from solution import f' }, 0)), 'pytest');
  assert.is(warmthOf(testJob({ solution: '', test: 'assert f(1) == 2' }, 0)), 'tests');
  assert.is(warmthOf(testJob({ solution: '', test: 'from unittest import mock' }, 0)), 'pytest');
});

test.run();
