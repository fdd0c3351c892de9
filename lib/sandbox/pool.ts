import { availableParallelism } from 'node:os';
import type { Job } from './jobs.js';
import type { Runner } from './runner.js';
import { type Answer, type Launch, Worker } from './worker.js';

/** What a warm supervisor has imported already. */
export type Warmth = 'plain' | 'tests' | 'pytest' | 'packages';

/** What copies of a template are born with. */
export interface Preload {
  modules: string[];
  /** What runs tests; it brings unittest. */
  tests: boolean;
}

const STANDARD =
  'bisect collections copy csv datetime decimal fractions functools heapq io itertools json math operator random re statistics string typing'.split(
    ' ',
  );
const PACKAGES = 'numpy pandas scipy matplotlib.pyplot sklearn pytest'.split(' ');

// As little as each kind needs: the memory of a template is the cost of its copies.
export const PRELOAD: Record<Warmth, Preload> = {
  plain: { modules: STANDARD, tests: false },
  tests: { modules: STANDARD, tests: true },
  pytest: { modules: [...STANDARD, 'pytest', 'unittest.mock'], tests: true },
  packages: { modules: [...STANDARD, 'unittest.mock', ...PACKAGES], tests: true },
};

const PACKAGE_WORDS = /\b(numpy|pandas|scipy|matplotlib|sklearn|seaborn)\b/;
const PYTEST_WORDS = /\bpytest\b|\b(from|import)\s+solution\b|^(async\s+)?def test_/m;

/** Which supervisor suits a job best; every one of them gives the same result. */
export function warmthOf(job: Job): Warmth {
  const text = [job.code, job.codePrompt, job.solution, job.test].filter((part) => typeof part === 'string').join('\n');
  if (PACKAGE_WORDS.test(text)) return 'packages';
  if (job.kind !== 'test') return 'plain';
  const isPytest = job.style === 'pytest' || (job.style === 'auto' && PYTEST_WORDS.test(text));
  return isPytest || text.includes('mock') ? 'pytest' : 'tests';
}

const END_MS = 5_000;

interface Entry {
  worker: Worker;
  launch: Launch;
}

/** Hands jobs to supervisors: warm ones that are used again, or one for each job. */
export class Pool implements Runner {
  private readonly idle: Record<Warmth, Entry[]> = { plain: [], tests: [], pytest: [], packages: [] };
  private readonly busy = new Set<Entry>();

  /** @param isWarm one supervisor serves many jobs, one at a time */
  constructor(
    private readonly launch: (warmth: Warmth, job: Job) => Launch | Promise<Launch>,
    readonly isWarm: boolean,
    /** Idle supervisors kept of each kind. */
    private readonly kept = 2 * availableParallelism(),
  ) {}

  async run(job: Job, signal: AbortSignal): Promise<Answer> {
    const warmth = this.isWarm ? warmthOf(job) : 'plain';
    const entry = this.take(warmth) ?? (await this.start(warmth, job));
    const { worker, launch } = entry;
    this.busy.add(entry);
    let isReusable = false;
    let isAnswered = false;
    try {
      const failure = await worker.ready(signal);
      if (signal.aborted) return { aborted: true };
      if (failure !== undefined) return { failure };
      const answer = await worker.run({ ...job, folder: launch.folder }, job.limits.timeoutMs, signal);
      isAnswered = 'value' in answer;
      isReusable = this.isWarm && 'value' in answer && worker.isAlive && !signal.aborted;
      return answer;
    } finally {
      this.busy.delete(entry);
      if (isReusable && this.idle[warmth].length < this.kept) this.idle[warmth].push(entry);
      else if (!(isAnswered && launch.endsItself && (await worker.endsWithin(END_MS)))) await this.end(entry);
    }
  }

  /** Ends all supervisors and waits for them. */
  async close(): Promise<void> {
    const entries = [...Object.values(this.idle).flat(), ...this.busy];
    for (const list of Object.values(this.idle)) list.length = 0;
    await Promise.all(entries.map((entry) => this.end(entry)));
  }

  private async start(warmth: Warmth, job: Job): Promise<Entry> {
    const launch = await this.launch(warmth, job);
    return { worker: new Worker(launch), launch };
  }

  private async end(entry: Entry): Promise<void> {
    await entry.worker.close();
    await entry.launch.cleanUp?.();
  }

  private take(warmth: Warmth): Entry | undefined {
    let entry = this.idle[warmth].pop();
    while (entry !== undefined && !entry.worker.isAlive) entry = this.idle[warmth].pop();
    return entry;
  }
}
