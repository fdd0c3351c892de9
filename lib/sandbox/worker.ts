import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { Hold } from './hold.js';

/** Everything that starts one supervisor. */
export interface Launch {
  command: string;
  args: string[];
  environment: Record<string, string>;
  /** Contents of descriptors 3, 4, … */
  inputs: string[];
  /** The program's folder, as the program sees it. */
  folder: string;
  /** What ends the supervisor with all it started. @default 'SIGKILL' */
  stopSignal?: 'SIGTERM';
  /** How long the interpreter may take to come up, in ms. @default 30000 */
  startMs?: number;
  /** Ends by its own after the answer, with everything in it. @default false */
  endsItself?: boolean;
  /** The exit code that says: the kernel ended all of it for its memory. */
  memoryExitCode?: number;
  /** Removes what the launch made outside this process. */
  cleanUp?: () => Promise<void>;
}

const START_MS = 30_000;
const GRACE_MS = 5_000;
const DIAGNOSTIC_BYTES = 8192;

/** What came of one job: the supervisor's answer, or why there is none. */
export type Answer = { value: Record<string, unknown> } | { aborted: true } | { failure: string; memory?: true };

/** One supervisor process, one job at a time, spoken to in frames: 4 bytes of length, then JSON. */
export class Worker {
  private readonly child: ChildProcess;
  private readonly hold: Hold;
  private received: Buffer[] = [];
  private receivedBytes = 0;
  private neededBytes = 4;
  private waiting: ((frame: Record<string, unknown> | undefined) => void) | undefined;
  private readonly frames: Record<string, unknown>[] = [];
  private diagnostics = '';
  private ended = false;
  private startError: string | undefined;
  private isUp = false;
  private exitCode: number | null = null;
  private readonly stopSignal: 'SIGTERM' | 'SIGKILL';
  private readonly exit: Promise<void>;

  constructor(private readonly launch: Launch) {
    this.stopSignal = launch.stopSignal ?? 'SIGKILL';
    const stdio: 'pipe'[] = ['pipe', 'pipe', 'pipe', ...launch.inputs.map(() => 'pipe' as const)];
    // Its own session: a Ctrl-C at the terminal is for this process alone.
    this.child = spawn(launch.command, launch.args, { env: launch.environment, cwd: '/', stdio, detached: true });
    this.hold = new Hold(this.child);
    launch.inputs.forEach((text, index) => {
      const handle = this.child.stdio[3 + index] as Writable | null | undefined;
      handle?.on('error', () => undefined); // ended early: its exit tells
      handle?.end(text);
    });
    this.child.stdin?.on('error', () => undefined);
    this.child.stdout?.on('data', (chunk: Buffer) => this.receive(chunk));
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.diagnostics = (this.diagnostics + chunk.toString('utf8')).slice(-DIAGNOSTIC_BYTES);
    });
    this.exit = new Promise((resolve) => {
      const finish = (): void => {
        this.ended = true;
        this.deliver(undefined);
        resolve();
      };
      this.child.once('error', (error) => {
        this.startError = error.message;
        finish();
      });
      this.child.once('close', (code) => {
        this.exitCode = code;
        finish();
      });
    });
  }

  /** Waits until the interpreter is up; says why it is not otherwise. */
  async ready(signal?: AbortSignal): Promise<string | undefined> {
    if (this.isUp) return undefined;
    const abort = (): void => this.kill();
    signal?.addEventListener('abort', abort, { once: true });
    const frame = await this.hold.during(this.next(this.launch.startMs ?? START_MS));
    signal?.removeEventListener('abort', abort);
    this.isUp = frame !== undefined;
    return this.isUp ? undefined : this.explain('the sandbox did not start');
  }

  /** Runs one job. The answer comes when all its processes are gone. */
  run(job: unknown, timeoutMs: number, signal?: AbortSignal): Promise<Answer> {
    return this.hold.during(this.runHeld(job, timeoutMs, signal));
  }

  private async runHeld(job: unknown, timeoutMs: number, signal?: AbortSignal): Promise<Answer> {
    let aborted = false;
    const abort = (): void => {
      aborted = true;
      this.kill();
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      this.send(job);
      const frame = await this.next(timeoutMs + GRACE_MS);
      if (aborted) {
        await this.exit;
        return { aborted: true };
      }
      if (frame === undefined) {
        const endedBefore = this.ended;
        this.kill();
        await this.exit;
        const failure = this.explain('the sandbox gave no answer');
        const { memoryExitCode } = this.launch;
        const memory = endedBefore && memoryExitCode !== undefined && this.exitCode === memoryExitCode;
        return memory ? { failure, memory } : { failure };
      }
      return { value: frame };
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  get isAlive(): boolean {
    return !this.ended;
  }

  /** Waits for a supervisor that ends by its own; false when it does not in time. */
  async endsWithin(timeoutMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), timeoutMs)));
    const inTime = await Promise.race([this.exit.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  /** Ends the supervisor with everything that it started, and waits for it. */
  async close(): Promise<void> {
    this.kill();
    await this.hold.during(this.exit);
  }

  private kill(): void {
    if (!this.ended && this.child.pid !== undefined) this.child.kill(this.stopSignal);
  }

  private send(value: unknown): void {
    const body = Buffer.from(JSON.stringify(value));
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    this.child.stdin?.write(Buffer.concat([head, body]));
  }

  private receive(chunk: Buffer): void {
    this.received.push(chunk);
    this.receivedBytes += chunk.length;
    // Joined only where there is enough: a large answer comes in many chunks.
    while (this.receivedBytes >= this.neededBytes) {
      const all = Buffer.concat(this.received);
      const size = 4 + all.readUInt32BE();
      const isWhole = all.length >= size;
      const rest = isWhole ? all.subarray(size) : all;
      this.received = [rest];
      this.receivedBytes = rest.length;
      this.neededBytes = isWhole ? 4 : size;
      if (!isWhole) continue;
      const frame = JSON.parse(all.toString('utf8', 4, size)) as Record<string, unknown>;
      if (this.waiting) this.deliver(frame);
      else this.frames.push(frame);
    }
  }

  private deliver(frame: Record<string, unknown> | undefined): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.(frame);
  }

  private next(timeoutMs: number): Promise<Record<string, unknown> | undefined> {
    const frame = this.frames.shift();
    if (frame !== undefined || this.ended) return Promise.resolve(frame);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.deliver(undefined), timeoutMs);
      this.waiting = (value) => {
        clearTimeout(timer);
        resolve(value);
      };
    });
  }

  private explain(what: string): string {
    const said = (this.startError ?? this.diagnostics).trim();
    return said ? `${what}: ${said}` : what;
  }
}
