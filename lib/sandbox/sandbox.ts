import { availableParallelism } from 'node:os';
import { GrpoError } from '../errors.js';
import { type Candidate, candidatesFor } from './backends.js';
import { type Job, runJob, testJob } from './jobs.js';
import type {
  RunOptions,
  RunResult,
  SandboxBackend,
  SandboxLike,
  SandboxOptions,
  TestOptions,
  TestResult,
} from './types.js';
import type { Answer } from './worker.js';

/**
 * Runs untrusted Python programs, each in its own empty folder and namespaces.
 *
 * @example
 * const sandbox = await Sandbox.open();
 * const { status, stdout } = await sandbox.run({ code: 'print(6 * 7)' });
 * await sandbox.close();
 */
export class Sandbox implements SandboxLike {
  private readonly queue: (() => void)[] = [];
  private readonly closing = new AbortController();
  private running = 0;
  private idle: (() => void)[] = [];

  private constructor(
    readonly backend: SandboxBackend,
    private readonly candidate: Candidate,
    /** Programs at the same time; others wait, and their time does not run yet. */
    private readonly slots = 2 * availableParallelism(),
  ) {}

  /**
   * Opens a sandbox and runs a first program in it.
   *
   * @throws SANDBOX_UNAVAILABLE with what is missing and the line that installs it
   */
  static async open(options: SandboxOptions = {}): Promise<Sandbox> {
    const { candidates, reasons } = await candidatesFor(options);
    for (const candidate of candidates) {
      const sandbox = new Sandbox(candidate.backend, candidate);
      const failure = await sandbox.probe();
      if (failure === undefined) return sandbox;
      await sandbox.close();
      reasons.push(`${candidate.name} is there, but ${failure}`);
    }
    throw new GrpoError('SANDBOX_UNAVAILABLE', 'Sandbox.open', reasons.join('; '));
  }

  /** Whether interpreters are kept started between programs; the isolation is the same. */
  get isWarm(): boolean {
    return this.candidate.pool.isWarm;
  }

  /**
   * Runs one program.
   *
   * @throws INVALID_ARGUMENT, ABORTED, CLOSED
   */
  async run(options: RunOptions): Promise<RunResult> {
    const job = runJob(options, this.candidate.processes);
    const { answer, wallMs } = await this.execute(job, 'sandbox.run', options.signal);
    if ('value' in answer) return answer.value as unknown as RunResult;
    return {
      status: answer.memory ? 'memory' : 'infra',
      exitCode: null,
      stdout: '',
      stderr: answer.memory ? '' : answer.failure,
      wallMs,
    };
  }

  /**
   * Judges a solution by its tests: 'pass' only when each of them was reported as passed.
   *
   * @throws INVALID_ARGUMENT, ABORTED, CLOSED
   */
  async test(options: TestOptions): Promise<TestResult> {
    const job = testJob(options, this.candidate.processes);
    const { answer, wallMs } = await this.execute(job, 'sandbox.test', options.signal);
    if ('value' in answer) return answer.value as unknown as TestResult;
    if (answer.memory) {
      const message = `used more than ${job.limits.memoryMb} MB of memory`;
      return { status: 'fail', testsRun: 0, failures: [{ name: 'tests', message }], wallMs };
    }
    return { status: 'infra', testsRun: 0, failures: [{ name: 'sandbox', message: answer.failure }], wallMs };
  }

  /** Kills what still runs (it is reported as aborted) and ends the interpreters. */
  async close(): Promise<void> {
    this.closing.abort();
    if (this.running > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
    await this.candidate.pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async execute(
    job: Job,
    operation: string,
    signal?: AbortSignal,
  ): Promise<{ answer: Exclude<Answer, { aborted: true }>; wallMs: number }> {
    if (this.closing.signal.aborted) throw new GrpoError('CLOSED', operation, 'the sandbox is closed');
    const stop = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
    await this.enter();
    const began = performance.now();
    try {
      const answer: Answer = stop.aborted ? { aborted: true } : await this.candidate.pool.run(job, stop);
      if ('aborted' in answer) {
        throw new GrpoError('ABORTED', operation, 'aborted; nothing of the program is left', { cause: stop.reason });
      }
      return { answer, wallMs: performance.now() - began };
    } finally {
      this.leave();
    }
  }

  /** Runs one program; says what is wrong. */
  private async probe(): Promise<string | undefined> {
    const result = await this.run({ code: 'import os\nprint(6 * 7, os.getuid())', timeoutMs: 60_000 });
    const [answer, user] = result.stdout.trim().split(' ');
    if (result.status === 'ok' && answer === '42' && (user !== '0' || this.backend === 'process')) return undefined;
    return `a first program failed (${result.status}): ${result.stderr || result.stdout}`;
  }

  private async enter(): Promise<void> {
    while (this.running >= this.slots) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.running++;
  }

  private leave(): void {
    this.running--;
    this.queue.shift()?.();
    if (this.running === 0) this.idle.splice(0).forEach((resolve) => resolve());
  }
}
