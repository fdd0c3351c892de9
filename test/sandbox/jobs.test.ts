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
