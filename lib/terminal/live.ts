/** The part of a terminal's stream that this file needs. */
export interface LineStream {
  isTTY?: boolean;
  columns?: number;
  write: (text: string) => unknown;
}

interface Live {
  stream: LineStream;
  text: (columns: number) => string;
  paint: (text: string) => string;
}

const CLEAR = '\r\u001b[2K';
const REDRAW_MS = 1000;
const NARROWEST = 20;

// One line at the bottom of one terminal: whoever prints takes it away first and puts it back, so that nothing mixes.
let live: Live | undefined;
let held = 0;
let timer: NodeJS.Timeout | undefined;
let isWatchingExit = false;

function draw(): void {
  if (live === undefined || held > 0) return;
  // A line as wide as the terminal would wrap, and could not be cleared any more.
  const columns = Math.max(NARROWEST, (live.stream.columns || 80) - 1);
  live.stream.write(`${CLEAR}${live.paint(live.text(columns).slice(0, columns))}`);
}

function erase(): void {
  if (live !== undefined && held === 0) live.stream.write(CLEAR);
}

/**
 * Shows one line at the bottom of a terminal, in place of the one before; it is drawn again every second. Does nothing where
 * the stream is no terminal.
 *
 * @param text the line for so many columns
 * @param paint colours the line that was cut to fit
 */
export function showLive(stream: LineStream, text: Live['text'], paint: Live['paint'] = (line) => line): void {
  if (stream.isTTY !== true) return;
  if (live !== undefined && live.stream !== stream) erase();
  live = { stream, text, paint };
  draw();
  timer ??= setInterval(draw, REDRAW_MS).unref();
  if (!isWatchingExit) process.once('exit', clearLive);
  isWatchingExit = true;
}

/** Takes the live line away. */
export function clearLive(): void {
  erase();
  live = undefined;
  clearInterval(timer);
  timer = undefined;
}

/** Writes a whole line to any stream, above the live line. */
export function printLine(stream: LineStream, line: string): void {
  erase();
  stream.write(`${line}\n`);
  draw();
}

/** Keeps the terminal free of the live line while others write to it, such as a child process. */
export async function withoutLive<T>(work: () => Promise<T>): Promise<T> {
  erase();
  held++;
  try {
    return await work();
  } finally {
    held--;
    draw();
  }
}
