import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ERROR_CODES, GrpoError } from '../lib/errors.js';

test('docs/errors.md explains exactly the codes of lib/errors.ts, each with meaning, cause and fix', () => {
  const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  assert.equal(
    rows.map((row) => /^\| `([A-Z_]+)` \|/.exec(row)?.[1]),
    [...ERROR_CODES],
  );
  for (const row of rows) {
    const cells = row.split('|').slice(1, -1);
    assert.is(cells.length, 4, row);
    for (const cell of cells) assert.ok(cell.trim().length > 3, row);
  }
});

test('a GrpoError carries code, operation, cause, and a message that names the operation', () => {
  const cause = new Error('disk');
  const error = new GrpoError('IO_FAILED', 'save', 'no space', { cause });
  assert.is(error.message, '[save] no space');
  assert.is(error.code, 'IO_FAILED');
  assert.is(error.operation, 'save');
  assert.is(error.cause, cause);
  assert.is(error.name, 'GrpoError');
  assert.instance(error, Error);
});

test.run();
