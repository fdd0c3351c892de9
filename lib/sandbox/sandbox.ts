import { availableParallelism } from 'node:os';
import { GrpoError } from '../errors.js';
import { bubblewrapLaunch, findBubblewrap } from './bubblewrap.js';
import { findInterpreter } from './interpreter.js';
import { type Job, runJob, testJob } from './jobs.js';
import type { RunOptions, RunResult, SandboxBackend, SandboxLike, SandboxOptions, TestOptions, TestResult } from './types.js';
import { type Answer, type Launch, Worker } from './worker.js';

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
  private idle: (() => void) | undefined;

  private constructor(
    readonly backend: SandboxBackend,
    private readonly launch: Launch,
    /** Programs at the same time; others wait, and their time does not run yet. */
    private readonly slots = 2 * availableParallelism(),
  ) {}

  static async open(options: SandboxOptions = {}): Promise<Sandbox> {
    const interpreter = await findInterpreter(options.python ?? 'python3');
    const launch = bubblewrapLaunch(await findBubblewrap(), interpreter);
    const sandbox = new Sandbox(launch.backend, launch);
    const probe = await sandbox.run({ code: 'print(6 * 7)', timeoutMs: 20_000 });
    if (probe.status !== 'ok' || probe.stdout !== '42\n') {
      await sandbox.close();
      throw new GrpoError('SANDBOX_UNAVAILABLE', 'Sandbox.open', probe.stderr);
    }
    return sandbox;
  }

  async run(options: RunOptions): Promise<RunResult> {
    const job = runJob(options, this.launch);
    const { answer, wallMs } = await this.execute(job, 'sandbox.run', options.signal);
    if ('value' in answer) return answer.value as unknown as RunResult;
    return { status: 'infra', exitCode: null, stdout: '', stderr: 'failure' in answer ? answer.failure : '', wallMs };
  }

  async test(options: TestOptions): Promise<TestResult> {
    const job = testJob(options, this.launch);
    const { answer, wallMs } = await this.execute(job, 'sandbox.test', options.signal);
    if ('value' in answer) return answer.value as unknown as TestResult;
    const message = 'failure' in answer ? answer.failure : '';
    return { status: 'infra', testsRun: 0, failures: [{ name: 'sandbox', message }], wallMs };
  }

  async close(): Promise<void> {
    this.closing.abort();
    if (this.running > 0) await new Promise<void>((resolve) => (this.idle = resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async execute(job: Job, operation: string, signal?: AbortSignal): Promise<{ answer: Answer; wallMs: number }> {
    if (this.closing.signal.aborted) throw new GrpoError('CLOSED', operation, 'the sandbox is closed');
    if (signal?.aborted) throw new GrpoError('ABORTED', operation, 'aborted before it started', { cause: signal.reason });
    await this.enter();
    const began = performance.now();
    try {
      const stop = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
      const worker = new Worker(this.launch);
      const failure = await worker.ready();
      const answer = failure === undefined ? await worker.run(job, job.limits.timeoutMs, stop) : { failure };
      await worker.close();
      if ('aborted' in answer) throw new GrpoError('ABORTED', operation, 'aborted; the program was killed', { cause: stop.reason });
      return { answer, wallMs: performance.now() - began };
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.running >= this.slots) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.running++;
  }

  private leave(): void {
    this.running--;
    this.queue.shift()?.();
    if (this.running === 0) this.idle?.();
  }
}
