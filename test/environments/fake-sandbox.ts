import type { RunOptions, RunResult, SandboxLike, TestOptions, TestResult } from '../../lib/sandbox/types.js';

/** A sandbox that answers from functions, and remembers what it was asked. */
export class FakeSandbox implements SandboxLike {
  readonly backend = 'process' as const;
  readonly ran: RunOptions[] = [];
  readonly tested: TestOptions[] = [];

  constructor(
    private readonly onTest: (options: TestOptions) => Partial<TestResult> = () => ({}),
    private readonly onRun: (options: RunOptions) => Partial<RunResult> = () => ({}),
  ) {}

  async run(options: RunOptions): Promise<RunResult> {
    this.ran.push(options);
    return { status: 'ok', exitCode: 0, stdout: '', stderr: '', wallMs: 1, ...this.onRun(options) };
  }

  async test(options: TestOptions): Promise<TestResult> {
    this.tested.push(options);
    return { status: 'pass', testsRun: 2, failures: [], wallMs: 1, ...this.onTest(options) };
  }

  async close(): Promise<void> {}
}
