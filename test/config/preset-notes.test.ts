import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { presetNotes, TUTORIAL_NOTES } from '../../lib/config/preset-notes.js';

test('only the tutorial has notes, and the page lists all fourteen differences', () => {
  assert.equal(presetNotes(undefined), []);
  assert.equal(presetNotes('trl'), []);
  assert.match(presetNotes('demo')[0]!, /learns when to search.*--model and --tasks/);
  const lines = presetNotes('tutorial');
  assert.is(lines.length, TUTORIAL_NOTES.length + 1);
  assert.match(lines[0]!, /docs\/tutorial\.md/);
  const page = readFileSync(join(import.meta.dirname, '../../docs/tutorial.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  assert.equal(
    rows,
    Array.from({ length: 14 }, (_, index) => index + 1),
  );
});

test.run();
