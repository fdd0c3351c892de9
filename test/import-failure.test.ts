import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { importFailure } from '../lib/import-failure.js';

test('TypeScript that this Node.js cannot read comes with what helps', () => {
  const fault = (path: string) =>
    Object.assign(new TypeError(`Unknown file extension "${/\.\w+$/.exec(path)?.[0]}" for ${path}`), {
      code: 'ERR_UNKNOWN_FILE_EXTENSION',
    });
  assert.match(
    importFailure(fault('/home/me/environment.ts')),
    /reads no TypeScript; compile it, or .*NODE_OPTIONS='--import tsx'$/,
  );
  assert.is(importFailure(fault('/home/me/data.csv')), 'Unknown file extension ".csv" for /home/me/data.csv');
});

test('other failures are their first line', () => {
  assert.is(importFailure(new SyntaxError('Unexpected token\nin line 3')), 'Unexpected token');
  assert.is(importFailure('odd'), 'odd');
});

test.run();
