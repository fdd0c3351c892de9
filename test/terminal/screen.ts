import type { LineStream } from '../../lib/terminal/live.js';

/** The rows that a terminal shows after some output; knows line ends, carriage returns, clearing a line, and colours. */
export function rowsOf(output: string): string[] {
  const rows = [''];
  let column = 0;

  for (const [token] of output.matchAll(/\u001b\[[\d;?]*[A-Za-z]|[^]/gu)) {
    const row = rows.at(-1) as string;
    if (token === '\n') {
      rows.push('');
      column = 0;
    } else if (token === '\r') column = 0;
    else if (token === '\u001b[2K') rows[rows.length - 1] = '';
    else if (!token.startsWith('\u001b')) {
      rows[rows.length - 1] = row.padEnd(column).slice(0, column) + token + row.slice(column + 1);
      column++;
    }
  }
  return rows;
}

/** A terminal in memory. */
export function screen(columns = 80): { stream: LineStream; rows: () => string[] } {
  let output = '';
  const stream = { isTTY: true, columns, write: (text: string) => (output += text) };
  return { stream, rows: () => rowsOf(output) };
}
