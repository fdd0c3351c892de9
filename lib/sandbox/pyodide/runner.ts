import { randomBytes } from 'node:crypto';
import { cleanEnvironment } from '../environment.js';
import type { Job } from '../jobs.js';
import type { Runner } from '../runner.js';
import { type Answer, Worker } from '../worker.js';
import { nodeArguments, type Pyodide } from './launch.js';
import { PyodideProgram } from './program.js';
import { JUDGE_PYTHON } from './python.js';
import { JUDGE_SCRIPT } from './script.js';

const JUDGE_MS = 60_000;
const START_MS = 120_000;

type Judged = { value: Record<string, unknown> } | { failure: string };

/**
 * Runs each program in a process of its own with Python in WebAssembly, or in one whose memory was put back since the last.
 * Tests are read and verdicts given by another process that never runs a program.
 */
export class PyodideRunner implements Runner {
  private readonly judge: Worker;
  private asking: Promise<unknown> = Promise.resolve();
  private readonly programs = new Set<PyodideProgram>();
  /** Started ahead: that takes seconds. */
  private spare: PyodideProgram | undefined;
  private isClosed = false;
  /** Processes that wait for another program. */
  private readonly waiting: PyodideProgram[] = [];

  /** @param isWarm keep processes, see {@link SandboxOptions.reuse} */
  constructor(
    private readonly pyodide: Pyodide,
    readonly isWarm = false,
  ) {
    this.judge = new Worker({
      command: process.execPath,
      args: nodeArguments(pyodide, JUDGE_SCRIPT, JUDGE_PYTHON),
      environment: {},
      inputs: [],
      startMs: START_MS,
      folder: '/tmp/program',
    });
  }

  async run(job: Job, signal: AbortSignal): Promise<Answer> {
    const began = performance.now();
    const planned = await this.ask({ ask: 'plan', job, packages: this.pyodide.packages });
    if (signal.aborted) return { aborted: true };
    if ('failure' in planned) return planned;
    if (typeof planned.value.infra === 'string') return { failure: planned.value.infra };
    const program = this.take();
    try {
      const failure = await program.ready();
      if (signal.aborted) return { aborted: true };
      if (failure !== undefined) return { failure };
      const key = randomBytes(32).toString('hex');
      const { plan } = planned.value;
      const sent = { ...job, environment: cleanEnvironment('/tmp'), ...(plan ? { plan, key } : {}) };
      const programBegan = performance.now();
      const ended = await program.run(sent, typeof job.stdin === 'string' ? job.stdin : '', job.limits, signal);
      if (ended === undefined) return { aborted: true };
      const { status, exitCode } = ended;
      const wallMs = performance.now() - programBegan;
      if (job.kind === 'run') {
        const [stdout, stderr] = [ended.stdout.toString('utf8'), ended.stderr.toString('utf8')];
        return { value: { status, exitCode, stdout, stderr, wallMs } };
      }
      const report = ended.report.toString('base64');
      const judged = await this.ask({ ask: 'judge', job, plan, key, report, ended: { status, exitCode } });
      if ('failure' in judged) return judged;
      return { value: { ...judged.value, wallMs: performance.now() - began } };
    } finally {
      if (this.isWarm && program.isAlive && !signal.aborted && !this.isClosed) this.waiting.push(program);
      else {
        await program.close();
        this.programs.delete(program);
      }
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.judge.close(), ...[...this.programs].map((program) => program.close())]);
  }

  private take(): PyodideProgram {
    const kept = this.waiting.pop();
    if (kept !== undefined) return kept;
    const program = this.spare ?? this.start();
    this.spare = this.isClosed || this.isWarm ? undefined : this.start();
    return program;
  }

  private start(): PyodideProgram {
    const program = new PyodideProgram(this.pyodide, this.isWarm);
    this.programs.add(program);
    return program;
  }

  /** The judge answers one question at a time. */
  private ask(question: object): Promise<Judged> {
    const answer = this.asking.then(async (): Promise<Judged> => {
      const failure = await this.judge.ready();
      if (failure !== undefined) return { failure };
      const told = await this.judge.run(question, JUDGE_MS);
      return 'value' in told ? told : { failure: 'failure' in told ? told.failure : 'the sandbox was closed' };
    });
    this.asking = answer;
    return answer;
  }
}
