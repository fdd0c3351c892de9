import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Sandbox } from '../sandbox/index.js';

const TICKS_PER_SECOND = 100;

interface Times {
  parent: number;
  ticks: number;
}

/** Processor time in ms of this process and everything below it, what ended and was waited for included. */
function processorMs(): number {
  const found = new Map<number, Times>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const line = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = line
        .slice(line.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
      found.set(Number(name), { parent: fields[1] ?? 0, ticks });
    } catch (error) {
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error; // ended meanwhile
    }
  }
  const isOurs = (pid: number): boolean => pid === process.pid || (found.has(pid) && isOurs(found.get(pid)!.parent));
  let ticks = 0;
  for (const [pid, times] of found) if (isOurs(pid)) ticks += times.ticks;
  return (ticks * 1000) / TICKS_PER_SECOND;
}

/** Wall and processor time of one of many programs. */
export interface ProgramTimes {
  wallMs: number;
  processorMs: number;
}

/** Wall and processor time of one program, from `total` of them, `width` at a time. */
export async function measurePrograms(total: number, width: number, run: () => Promise<void>): Promise<ProgramTimes> {
  const processorBefore = processorMs();
  const began = performance.now();
  let left = total;
  const work = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: width }, work));
  return { wallMs: (performance.now() - began) / total, processorMs: (processorMs() - processorBefore) / total };
}

/** What the sandbox costs. */
export interface SandboxSpeed {
  backend: string;
  /** Programs at the same time. */
  width: number;
  programsPerSecond: number;
  /** Of one program, with everything around it. */
  processorMs: number;
  /** One program after another. */
  singleMs: number;
}

const CODE = 'print(6 * 7)';

/**
 * Programs a second in a sandbox, twice as many at a time as there are processors.
 *
 * @param programs that are run for the rate
 */
export async function measureSandbox(sandbox: Sandbox, programs: number): Promise<SandboxSpeed> {
  const width = 2 * availableParallelism();
  const run = async (): Promise<void> => {
    const { status, stdout, stderr } = await sandbox.run({ code: CODE });
    if (status !== 'ok' || stdout !== '42\n') throw new Error(`the program ended with ${status}: ${stderr}`);
  };
  // Until all interpreters are up.
  await measurePrograms(2 * width, width, run);
  const many = await measurePrograms(programs, width, run);
  const single = await measurePrograms(Math.ceil(programs / 4), 1, run);
  const { processorMs: own } = many;
  return {
    backend: sandbox.backend,
    width,
    programsPerSecond: 1000 / many.wallMs,
    processorMs: own,
    singleMs: single.wallMs,
  };
}
