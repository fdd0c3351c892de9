// Long work on a tiny model: does memory, does the number of open files or threads grow?
// usage: node --expose-gc --import tsx bench/long-run.ts [steps 500] [sessions 10000] [aborts 500] [plot.svg]
// Prints the figures after every tenth of a phase; the plot shows the memory of the steps.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Policy, train } from '../lib/index.js';
import { quietReporter } from '../lib/run/index.js';
import { linePlot } from './line-plot.js';
import { TINY_LORA, vowelsEnvironment, writeTinyModel } from '../test/e2e/tiny-model.js';

interface Usage {
  residentMb: number;
  /** Of JavaScript; exact with --expose-gc. */
  heapMb: number;
  files: number;
  threads: number;
}

function usage(): Usage {
  globalThis.gc?.();
  const status = readFileSync('/proc/self/status', 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    heapMb: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
    residentMb: Math.round(field('VmRSS') / 1024),
    files: readdirSync('/proc/self/fd').length,
    threads: field('Threads'),
  };
}

const show = ({ residentMb, heapMb, files, threads }: Usage) =>
  `${residentMb} MB resident, ${heapMb} MB heap, ${files} files, ${threads} threads`;

const POINTS = 10;

/** Prints figures after every tenth, and gives back all that were taken (ten times as many). */
async function phase(
  name: string,
  count: number,
  work: (tick: (done: number) => void) => Promise<void>,
): Promise<[number, Usage][]> {
  const points: [number, Usage][] = [];
  const started = performance.now();
  let next = count / POINTS ** 2;
  await work((done) => {
    if (done < next) return;
    next += count / POINTS ** 2;
    points.push([done, usage()]);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${count} ${name} in ${seconds} s`);
  points
    .filter((_, index) => (index + 1) % POINTS === 0)
    .forEach(([done, figures]) => console.log(`  ${String(done).padStart(6)}  ${show(figures)}`));
  return points;
}

async function run(): Promise<void> {
  const [steps = 500, sessions = 10_000, aborts = 500] = process.argv.slice(2, 5).map(Number);
  const plot = process.argv[5];
  const folder = mkdtempSync(join(tmpdir(), 'grpo-long-'));
  try {
    const model = await writeTinyModel(join(folder, 'model'));
    const points = await phase('steps', steps, async (tick) => {
      const reporter = { ...quietReporter, step: ({ step }: { step: number }) => tick(step) };
      const environment = vowelsEnvironment();
      const sizes = { promptsPerStep: 2, groupSize: 4, maxNewTokens: 12, evalEvery: 50, saveEvery: 10 };
      const output = join(folder, 'run');
      await train({ model, environment, steps, ...sizes, lora: TINY_LORA, output }, { reporter });
    });
    if (plot !== undefined) {
      const resident = points.map(([step, { residentMb }]): [number, number] => [step, residentMb]);
      const heap = points.map(([step, { heapMb }]): [number, number] => [step, heapMb]);
      const title = 'Memory of a training run of a tiny model';
      writeFileSync(plot, linePlot({ title, x: 'step', y: 'MB', series: { resident, 'JavaScript heap': heap } }));
    }
    const policy = await Policy.load(model, { lora: TINY_LORA });
    await phase('sessions', sessions, async (tick) => {
      for (let index = 1; index <= sessions; index++) {
        const session = await policy.open([5, 6, 7, 8]);
        const twin = await session.fork();
        if (index % 10 === 0) await twin.generate({ maxNewTokens: 2, stopIds: [], seed: index });
        twin.close();
        session.close();
        tick(index);
      }
    });
    await phase('aborted generations', aborts, async (tick) => {
      for (let index = 1; index <= aborts; index++) {
        const controller = new AbortController();
        const session = await policy.open([5, 6, 7, 8]);
        const turn = session.generate({ maxNewTokens: 400, stopIds: [], seed: index, signal: controller.signal });
        setTimeout(() => controller.abort(), index % 7);
        await turn;
        session.close();
        tick(index);
      }
    });
    await policy.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
