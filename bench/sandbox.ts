// Programs a second and processor time a program, inside the sandbox and with a plain python3 each time.
// Usage: node --import tsx bench/sandbox.ts [programs, default 300] [python, default python3] [backend, default bubblewrap]
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { measurePrograms } from '../lib/bench/sandbox-speed.js';
import { Sandbox } from '../lib/sandbox/index.js';
import type { SandboxBackend } from '../lib/sandbox/index.js';

const [count = '300', python = 'python3', backend = 'bubblewrap'] = process.argv.slice(2);
const programs = Number(count);
const atOnce = 2 * availableParallelism();
const CASES: [string, string][] = [
  ['trivial', 'print(6 * 7)'],
  ['numpy and pandas', 'import numpy, pandas\nprint(int(pandas.Series(numpy.arange(4)).sum()))'],
];
async function main(): Promise<void> {
  const execute = promisify(execFile);
  const executable = (await execute(python, ['-c', 'import sys; print(sys.executable)'])).stdout.trim();
  const sandbox = await Sandbox.open({ backend: backend as SandboxBackend, python, allowUnsandboxed: true });
  console.log(`backend ${sandbox.backend}, warm ${sandbox.isWarm}, ${executable}, ${availableParallelism()} cores`);
  try {
    for (const [name, code] of CASES) {
      const plain = async (): Promise<void> => void (await execute(executable, ['-c', code]));
      const inside = async (): Promise<void> => {
        const result = await sandbox.run({ code });
        if (result.status !== 'ok') throw new Error(`${name}: ${result.status} ${result.stderr}`);
      };
      try {
        await plain();
      } catch (error) {
        console.log(
          `${name}: not measured, this Python cannot run it (${(error as Error).message.trim().split('\n').pop()})`,
        );
        continue;
      }
      await measurePrograms(4 * atOnce, atOnce, inside); // until all interpreters are up
      const fast = await measurePrograms(programs, atOnce, inside);
      const single = await measurePrograms(Math.ceil(programs / 4), 1, inside);
      const started = await measurePrograms(Math.ceil(programs / 20), 1, plain);
      console.log(
        `${name}: ${(1000 / fast.wallMs).toFixed(0)} programs/s (${atOnce} at once), ${fast.processorMs.toFixed(1)} ms of processor time each`,
      );
      console.log(
        `  one after another: ${single.wallMs.toFixed(1)} ms, ${single.processorMs.toFixed(1)} ms of processor time`,
      );
      console.log(
        `  plain python3:     ${started.wallMs.toFixed(1)} ms, ${started.processorMs.toFixed(1)} ms of processor time`,
      );
      console.log(
        `  ratio: wall ${(started.wallMs / single.wallMs).toFixed(1)}, processor ${(started.processorMs / single.processorMs).toFixed(1)}`,
      );
    }
  } finally {
    await sandbox.close();
  }
}

await main();
