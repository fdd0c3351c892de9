import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/index.js';
import { writeTinyModel } from './tiny-model.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-sessions-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const usage = () => {
  const status = readFileSync('/proc/self/status', 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return { files: readdirSync('/proc/self/fd').length, threads: field('Threads'), megabytes: field('VmRSS') / 1024 };
};

/** Grows no more than the allocator's own slack, and by no file or thread. */
async function holds(policy: Policy, rounds: number, work: (policy: Policy, round: number) => Promise<void>) {
  for (let round = 0; round < rounds / 2; round++) await work(policy, round);
  const before = usage();
  for (let round = 0; round < rounds / 2; round++) await work(policy, round);
  const after = usage();
  assert.is(after.files, before.files);
  assert.is(after.threads, before.threads);
  assert.ok(after.megabytes - before.megabytes < 25, `${before.megabytes} -> ${after.megabytes} MB`);
}

test('10,000 sessions opened, forked and closed leave nothing behind', async () => {
  const policy = await Policy.load(await writeTinyModel(join(folder, 'model')));
  await holds(policy, 10_000, async (own, round) => {
    const session = await own.open([5, 6, 7, 8]);
    if (round % 20 === 0) {
      const twin = await session.fork();
      await twin.generate({ maxNewTokens: 2, stopIds: [], seed: round });
      twin.close();
    }
    session.close();
  });
  await policy.close();
});

test('a storm of aborted generations leaves nothing behind, and the policy still works', async () => {
  const policy = await Policy.load(join(folder, 'model'));
  const reasons = new Set<string>();
  await holds(policy, 60, async (own, round) => {
    const controller = new AbortController();
    const sessions = await Promise.all(Array.from({ length: 8 }, () => own.open([5, 6, 7, 8])));
    const turns = sessions.map((session, seed) =>
      session.generate({ maxNewTokens: 400, stopIds: [], seed, signal: controller.signal }),
    );
    setTimeout(() => controller.abort(), round % 5);
    for (const { finishReason } of await Promise.all(turns)) reasons.add(finishReason);
    sessions.forEach((session) => session.close());
  });
  assert.ok(reasons.has('aborted'), [...reasons].join());
  const session = await policy.open([5, 6, 7, 8]);
  assert.is((await session.generate({ maxNewTokens: 3, stopIds: [] })).ids.length, 3);
  session.close();
  await policy.close();
});

test.run();
