import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startWork } from './working-policy.js';

// A worker with a policy at work ends in the way that the first argument names, while the main thread's own goes on.
async function main(way: string): Promise<void> {
  const policy = await startWork();
  const code = `
    const { parentPort } = require('node:worker_threads');
    import('tsx/esm/api')
      .then(({ tsImport }) => tsImport(${JSON.stringify(join(import.meta.dirname, 'working-policy.ts'))}, ${JSON.stringify(import.meta.url)}))
      .then((m) => m.startWork())
      .then(() => {
        parentPort.postMessage('at work');
        if (${JSON.stringify(way)} === 'exit') setTimeout(() => process.exit(5), 50);
        if (${JSON.stringify(way)} === 'throw') setTimeout(() => { throw new Error('thrown in a worker'); }, 50);
      });`;
  const worker = new Worker(code, { eval: true });
  worker.on('error', (error) => process.stdout.write(`error ${error.message}\n`));
  await once(worker, 'message');
  await sleep(50);
  // Not once(): it would reject on the worker's error.
  const ended = new Promise<number>((resolve) => worker.on('exit', resolve));
  if (way === 'terminate') await worker.terminate();
  process.stdout.write(`worker ${await ended}\n`);
  // The core still works here.
  const { skipped } = await policy.update({ rows: [{ ids: [1, 2, 3], mask: [0, 1, 1], advantage: 1 }] });
  process.stdout.write(`update ${skipped}\n`);
  process.exit(6);
}

void main(process.argv[2] ?? '');
