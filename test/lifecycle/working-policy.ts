import { join } from 'node:path';
import { Policy } from '../../lib/index.js';

const MODEL = join(import.meta.dirname, '..', 'fixtures', 'models', 'llama-tiny');
const ROWS = 64;
const TOKENS = 60;

/**
 * Loads a tiny policy, and keeps it at work without an end: updates of many rows, sessions that generate, log-probs. Whatever
 * moment one leaves at, a native step is under way.
 */
export async function startWork(): Promise<Policy> {
  const policy = await Policy.load(MODEL, { dtype: 'float32', lora: { rank: 4, targetModules: ['q_proj', 'v_proj'] } });
  const ids = Array.from({ length: TOKENS }, (_, t) => (t * 37 + 11) % 200);
  const rows = Array.from({ length: ROWS }, (_, b) => ({ ids, mask: ids.map(() => 1), advantage: b % 2 ? 1 : -1 }));
  const endless = async (work: () => Promise<unknown>): Promise<void> => {
    for (;;) await work();
  };
  const updates = endless(() => policy.update({ rows, optimizer: { learningRate: 1e-3 } }));
  const sampling = endless(async () => {
    const session = await policy.open(ids.slice(0, 5));
    await session.generate({ maxNewTokens: 40, stopIds: [] });
    session.close();
  });
  const scoring = endless(() => policy.logprobs(rows.map((row) => row.ids)));
  // Ends by a policy that is closed under it are wanted; all else shows.
  Promise.all([updates, sampling, scoring]).catch((error: { code?: string }) => {
    if (error.code !== 'CLOSED' && error.code !== 'ABORTED') throw error;
  });
  await policy.update({ rows, optimizer: { learningRate: 1e-3 } });
  return policy;
}
