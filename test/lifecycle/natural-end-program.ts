import { join } from 'node:path';
import { Policy } from '../../lib/index.js';

// Ends by itself with a policy that was never closed.
async function main(): Promise<void> {
  const model = join(import.meta.dirname, '..', 'fixtures', 'models', 'llama-tiny');
  const policy = await Policy.load(model, { dtype: 'float32' });
  const session = await policy.open([1, 2, 3]);
  const turn = await session.generate({ maxNewTokens: 5, stopIds: [], temperature: 0 });
  process.stdout.write(`ready\n${turn.ids.length} tokens\n`);
  process.exitCode = 4;
}

void main();
