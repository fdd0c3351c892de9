import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { Hold } from '../hold.js';
import type { Job } from '../jobs.js';
import { nodeArguments, type Pyodide } from './launch.js';
import { PROGRAM_PYTHON } from './python.js';
import { PROGRAM_SCRIPT, SERIES_SCRIPT } from './script.js';

const START_MS = 120_000;
const LOOK_MS = 50;
const PAGE_BYTES = 4096;
const REPORT_BYTES = 4 * 2 ** 20;
const READY = 'ready\n';
const MEMORY = 'memory\n';
/** Longer than what stands at the end of a kept process's streams: a mark, a space, an exit code, a line end. */
const MARK_BYTES = 80;

/** How a program ended, and what it wrote. */
export interface Ended {
  status: 'ok' | 'error' | 'timeout' | 'memory' | 'output';
  exitCode: number | null;
  stdout: Buffer;
  stderr: Buffer;
  report: Buffer;
}

interface Stream {
  chunks: Buffer[];
  bytes: number;
  limit: number;
  /** The last bytes, as latin1. */
  tail: string;
}

/** A process with Python in WebAssembly that waits for its one program, or for one after the other. */
export class PyodideProgram {
  private readonly child: ChildProcess;
  private readonly hold: Hold;
  private readonly streams: Stream[] = [];
  private readonly exit: Promise<number | null>;
  private readonly up: Promise<string | undefined>;
  private reason: Ended['status'] | undefined;
  /** Called when every stream has ended with the mark of the present program. */
  private marked: (() => void) | undefined;
  private mark = '';

  /** @param isKept it takes another program after one that ended in good order */
  constructor(
    pyodide: Pyodide,
    private readonly isKept = false,
  ) {
    const script = isKept ? SERIES_SCRIPT : PROGRAM_SCRIPT;
    this.child = spawn(process.execPath, nodeArguments(pyodide, script, PROGRAM_PYTHON), {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.hold = new Hold(this.child);
    this.child.stdin?.on('error', () => undefined); // ended early: its exit tells
    for (const index of [1, 2, 3]) this.collect(this.child.stdio[index] as Readable);
    let startError = '';
    this.exit = new Promise((resolve) => {
      this.child.once('error', (error) => {
        startError = error.message;
        resolve(null);
      });
      this.child.once('close', resolve);
    });
    this.up = new Promise((resolve) => {
      const timer = setTimeout(() => resolve('pyodide did not start in time'), START_MS).unref();
      const settle = (value: string | undefined): void => {
        clearTimeout(timer);
        resolve(value);
      };
      this.child.stdio[3]?.on('data', () => {
        if (this.text(2).startsWith(READY)) settle(undefined);
      });
      void this.exit.then(() => settle(`pyodide did not start: ${startError || this.text(1).slice(-2000)}`));
    });
  }

  /** Waits until Python is there; says why it is not otherwise. */
  ready(): Promise<string | undefined> {
    return this.hold.during(this.up);
  }

  /** Whether it can take a program now. */
  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.reason === undefined;
  }

  /** Runs a program; what crosses a limit is killed. */
  async run(sent: object, stdin: string, limits: Job['limits'], signal: AbortSignal): Promise<Ended | undefined> {
    const before = this.residentBytes();
    for (const stream of this.streams) {
      stream.chunks = [];
      stream.bytes = 0;
      stream.tail = '';
      stream.limit = limits.outputBytes + (this.isKept ? MARK_BYTES : 0);
    }
    this.mark = randomBytes(24).toString('hex');
    const over = new Promise<'over'>((resolve) => {
      this.marked = () => resolve('over');
    });
    this.streams[2]!.limit = REPORT_BYTES;
    const abort = (): void => this.kill();
    signal.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => this.stop('timeout'), limits.timeoutMs);
    const look = setInterval(() => {
      if (this.residentBytes() - before > limits.memoryMb * 2 ** 20) this.stop('memory');
    }, LOOK_MS);
    if (signal.aborted) abort();
    for (const text of [JSON.stringify(sent), stdin, ...(this.isKept ? [this.mark] : [])]) this.send(text);
    const end = await this.hold.during(Promise.race([this.exit, over]));
    const code = end === 'over' ? this.takeMarks() : end;
    clearTimeout(timer);
    clearInterval(look);
    signal.removeEventListener('abort', abort);
    if (signal.aborted) return undefined;
    const texts = this.streams.map(({ chunks }) => Buffer.concat(chunks));
    if (texts.slice(0, 2).some(({ length }) => length > limits.outputBytes)) this.reason ??= 'output';
    const [stdout, stderr] = texts.map((text) => text.subarray(0, limits.outputBytes));
    const report = texts[2];
    if (this.reason === undefined && report!.toString('latin1').endsWith(MEMORY)) this.reason = 'memory';
    const status = this.reason ?? (code === 0 ? 'ok' : 'error');
    return { status, exitCode: this.reason ? null : code, stdout: stdout!, stderr: stderr!, report: report! };
  }

  /** Ends the process and waits for it. */
  async close(): Promise<void> {
    this.kill();
    await this.hold.during(this.exit);
  }

  private collect(readable: Readable): void {
    const stream: Stream = { chunks: [], bytes: 0, limit: REPORT_BYTES, tail: '' };
    this.streams.push(stream);
    readable.on('data', (chunk: Buffer) => {
      stream.bytes += chunk.length;
      if (stream.bytes - chunk.length < stream.limit) stream.chunks.push(chunk);
      if (stream.bytes > stream.limit) return this.stop('output');
      if (this.marked === undefined || !this.isKept) return;
      stream.tail = (stream.tail + chunk.toString('latin1')).slice(-MARK_BYTES);
      if (this.streams.every(({ tail }) => tail.includes(this.mark) && tail.endsWith('\n'))) this.marked();
    });
  }

  /** Takes the marks off the streams, and reads the exit code that stands beside them. */
  private takeMarks(): number {
    let code = 0;
    for (const stream of this.streams) {
      const text = Buffer.concat(stream.chunks);
      const at = text.lastIndexOf(this.mark);
      code = Number(text.subarray(at + this.mark.length).toString('latin1'));
      stream.chunks = [text.subarray(0, at)];
    }
    this.marked = undefined;
    return code;
  }

  private text(index: number): string {
    return Buffer.concat(this.streams[index]!.chunks).toString('utf8');
  }

  private stop(reason: Ended['status']): void {
    this.reason ??= reason;
    this.kill();
  }

  private kill(): void {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
  }

  private residentBytes(): number {
    try {
      return Number(readFileSync(`/proc/${this.child.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
    } catch {
      return 0; // ended meanwhile
    }
  }

  private send(text: string): void {
    const body = Buffer.from(text);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    (this.child.stdin as Writable).write(Buffer.concat([head, body]));
  }
}
