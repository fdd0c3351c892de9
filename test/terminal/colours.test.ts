import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coloursFor, takesColours } from '../../lib/terminal/colours.js';

test('colours follow NO_COLOR, FORCE_COLOR, TERM and the stream, in that order', () => {
  const terminal = { isTTY: true };
  const pipe = {};
  assert.ok(takesColours(terminal, {}));
  assert.not(takesColours(pipe, {}));
  assert.not(takesColours(terminal, { TERM: 'dumb' }));
  assert.not(takesColours(terminal, { NO_COLOR: '1' }));
  assert.ok(takesColours(terminal, { NO_COLOR: '' }), 'an empty NO_COLOR says nothing');
  assert.ok(takesColours(pipe, { FORCE_COLOR: '1' }));
  assert.not(takesColours(terminal, { FORCE_COLOR: '0' }));
  assert.not(takesColours(pipe, { FORCE_COLOR: '1', NO_COLOR: '1' }));
});

test('text is coloured or left as it is', () => {
  assert.is(coloursFor({}, {}).red('x'), 'x');
  assert.is(coloursFor({ isTTY: true }, {}).red('x'), '\u001b[31mx\u001b[39m');
});

test.run();
