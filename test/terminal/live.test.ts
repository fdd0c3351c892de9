import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clearLive, printLine, showLive, withoutLive } from '../../lib/terminal/live.js';
import { screen } from './screen.js';

test.after.each(clearLive);

test('what is printed to any stream of the terminal lands above the live line, and never in it', () => {
  const terminal = screen();
  const other = { isTTY: true, write: terminal.stream.write };
  showLive(terminal.stream, () => 'step 1  3/8');
  printLine(terminal.stream, 'a message');
  printLine(other, 'a warning');
  showLive(terminal.stream, () => 'step 1  4/8');
  assert.equal(terminal.rows(), ['a message', 'a warning', 'step 1  4/8']);
  clearLive();
  assert.equal(terminal.rows(), ['a message', 'a warning', '']);
});

test('the live line never wraps', () => {
  const terminal = screen(40);
  showLive(terminal.stream, (columns) => 'x'.repeat(columns + 30));
  assert.is(terminal.rows()[0]!.length, 39);
});

test('a terminal that does not know its width counts as one of 80 columns', () => {
  const terminal = screen(0);
  showLive(terminal.stream, (columns) => 'x'.repeat(columns));
  assert.is(terminal.rows()[0]!.length, 79);
});

test('while a child writes to the terminal there is no live line, and afterwards there is', async () => {
  const terminal = screen();
  showLive(terminal.stream, () => 'loading');
  await withoutLive(async () => {
    assert.equal(terminal.rows(), ['']);
    terminal.stream.write('from a child\n');
    showLive(terminal.stream, () => 'loading still');
    assert.equal(terminal.rows(), ['from a child', '']);
  });
  assert.equal(terminal.rows(), ['from a child', 'loading still']);
});

test('where there is no terminal there is no live line', () => {
  const written: string[] = [];
  const pipe = { write: (text: string) => written.push(text) };
  showLive(pipe, () => 'live');
  printLine(pipe, 'plain');
  assert.equal(written, ['plain\n']);
});

test.run();
