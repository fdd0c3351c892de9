// What is left after many hostile programs: processes, descriptors, files.
// Usage: node --import tsx bench/sandbox-hostile.ts [programs, default 1000] [python, default python3]
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox } from '../lib/sandbox/index.js';
import { hostilePrograms } from '../test/needs/hostile-programs.js';

const programs = Number(process.argv[2] ?? 1000);
const python = process.argv[3] ?? 'python3';

function processes(): number {
  const mark = `"owner":${process.pid},`;
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false; // ended meanwhile
    }
  }).length;
}

const state = () => ({
  processes: processes(),
  descriptors: readdirSync('/proc/self/fd').length,
  temporaryFiles: readdirSync(tmpdir()).length,
  sharedMemoryFiles: readdirSync('/dev/shm').length,
  mounts: readFileSync('/proc/self/mounts', 'utf8').split('\n').length,
});

async function main(): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const hostile = hostilePrograms(typeof address === 'object' && address ? address.port : 0);
  const before = state();
  const began = performance.now();
  const sandbox = await Sandbox.open({ python });
  const counts: Record<string, number> = {};
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < programs) {
      const { code } = hostile[next++ % hostile.length]!;
      const { status } = await sandbox.run({ code, timeoutMs: 1000, memoryMb: 128 });
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, work));
  await sandbox.close();
  await sleep(500);
  console.log(`${programs} programs in ${((performance.now() - began) / 1000).toFixed(0)} s`, counts);
  console.log('before', before);
  console.log('after ', state());
  server.close();
}

await main();
