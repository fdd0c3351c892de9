import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeFolders } from '../../lib/model/make-folders.js';

const codeOf = (work: Promise<void>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (error as NodeJS.ErrnoException).code,
  );

test('missing folders are made, those that are there are left alone', async () => {
  const root = mkdtempSync(join(tmpdir(), 'grpo-folders-'));
  await makeFolders(join(root, 'a/b/c'));
  await makeFolders(join(root, 'a/b/c'));
  assert.ok(statSync(join(root, 'a/b/c')).isDirectory());
});

test('a file in the way, and a file system that refuses, end in an error and never in a wait', async () => {
  const root = mkdtempSync(join(tmpdir(), 'grpo-folders-'));
  writeFileSync(join(root, 'file'), '');
  assert.ok(['ENOTDIR', 'EEXIST'].includes((await codeOf(makeFolders(join(root, 'file/below')))) ?? ''));
  assert.is(await codeOf(makeFolders(join(root, 'file'))), 'EEXIST');
  assert.is(await codeOf(makeFolders('/proc/grpo/below')), 'ENOENT');
});

test.run();
