// Loads policies and forgets them: run with --expose-gc. Prints how many threads are left.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Policy } from '../../lib/policy/index.js';
import { modelFolder } from '../numeric/fixtures.js';

const threads = (): number => readdirSync('/proc/self/task').length;

async function loadAndForget(): Promise<void> {
  const policy = await Policy.load(modelFolder('llama-tiny'));
  const session = await policy.open([1, 2, 3]);
  await session.generate({ maxNewTokens: 4, stopIds: [] });
}

async function main(): Promise<void> {
  await loadAndForget();
  const collect = globalThis.gc as () => void;
  const settle = async () => {
    for (let i = 0; i < 20; i++) {
      collect();
      await sleep(20);
    }
  };
  await settle();
  const before = threads();
  for (let i = 0; i < 5; i++) await loadAndForget();
  await settle();
  console.log(JSON.stringify({ before, after: threads() }));
}

void main();
