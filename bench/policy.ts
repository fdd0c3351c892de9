// Tokens a second of sampling, scoring and updating, wall clock and processor time.
// usage: npx tsx bench/policy.ts MODEL [float32|bfloat16] [new tokens, default 64]
import { availableParallelism } from 'node:os';
import { Policy, type Session } from '../lib/policy/index.js';

const [model, dtype = 'auto', count = '64'] = process.argv.slice(2);
const newTokens = Number(count);
const PROMPT_TOKENS = 40;

/** Runs work that handles some tokens, and prints how fast. */
async function time(label: string, tokens: number, work: () => Promise<unknown>): Promise<void> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const perProcessor = (tokens * 1e6) / (user + system);
  console.log(
    `${label.padEnd(28)} ${(tokens / seconds).toFixed(1).padStart(8)} tok/s` +
      `  ${perProcessor.toFixed(1).padStart(8)} tok per processor second`,
  );
}

async function main(path: string): Promise<void> {
  const policy = await Policy.load(path, { dtype: dtype as 'auto' });
  console.log(JSON.stringify({ ...policy.description, processors: availableParallelism() }));
  const prompt = Array.from({ length: PROMPT_TOKENS }, (_, t) => 100 + 13 * t);
  const generate = (sessions: Session[], maxNewTokens: number) =>
    Promise.all(sessions.map((session, seed) => session.generate({ maxNewTokens, seed, stopIds: [] })));
  for (const rows of [1, 8, 32]) {
    const sessions = await Promise.all(Array.from({ length: rows }, () => policy.open(prompt)));
    await generate(sessions, 4);
    await time(`decode, ${rows} sequences`, rows * newTokens, () => generate(sessions, newTokens));
    sessions.forEach((session) => session.close());
  }
  const long = Array.from({ length: 8 }, (_, b) =>
    Array.from({ length: 512 }, (_, t) => 100 + ((b * 31 + t * 17) % 4000)),
  );
  await time('score, 8 rows of 512', 8 * 512, () => policy.logprobs(long));
  const rows = long.map((ids, b) => ({ ids, mask: ids.map((_, t) => (t < 64 ? 0 : 1)), advantage: b - 3.5 }));
  for (let round = 0; round < 2; round++) {
    await time(`update, 8 rows of 512 (${round + 1})`, 8 * 512, async () => {
      const { peakBytes, recomputed } = await policy.update({ rows });
      console.log(`peak ${(peakBytes / 1e9).toFixed(2)} GB${recomputed ? ', blocks recomputed' : ''}`);
    });
  }
  await policy.close();
}

if (model === undefined) {
  console.error('usage: npx tsx bench/policy.ts MODEL [float32|bfloat16] [new tokens]');
  process.exitCode = 2;
} else {
  void main(model);
}
