import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PROGRAMS } from '../docs/pages.js';
import { diagnostics } from './compile.js';

test('the programs of the pages compile under strict', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-types-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = PROGRAMS.map(({ page, line, language, code }) => {
    const file = join(folder, `${page.replace(/\W+/g, '-')}-${line}.m${language}`);
    writeFileSync(file, code);
    return file;
  });
  assert.ok(files.length > 6);
  assert.equal(diagnostics(files, { noUncheckedIndexedAccess: false, declaration: false }), []);
});

test.run();
