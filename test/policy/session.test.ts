import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy, type Session } from '../../lib/policy/index.js';
import { modelFolder, readExpected } from '../numeric/fixtures.js';

const NAME = 'llama-tiny';
const PROMPT = readExpected(NAME).inputs[1] as number[];
const load = () => Policy.load(modelFolder(NAME), { seed: 7 });

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (error as { code?: string }).code,
  );
}

/** Sampler against trainer on the sampled tokens of a session. */
async function gapOf(
  policy: Policy,
  session: Session,
  temperature = 1,
): Promise<{ mean: number; max: number; tokens: number }> {
  const row = session.row();
  const [trainer] = await policy.logprobs([row.ids], { temperature });
  let sum = 0;
  let max = 0;
  let tokens = 0;
  row.samplerLogprobs.forEach((value, t) => {
    if (Number.isNaN(value)) return;
    const gap = Math.abs(value - (trainer?.[t] as number));
    sum += gap;
    max = Math.max(max, gap);
    tokens++;
  });
  return { mean: sum / tokens, max, tokens };
}

test('sampler and trainer agree on every sampled token, over several turns and temperatures', async () => {
  const policy = await load();
  for (const temperature of [1, 0.6, 1.5]) {
    const session = await policy.open(PROMPT);
    await session.generate({ maxNewTokens: 40, temperature, topP: 0.9, topK: 50, stopIds: [], seed: 3 });
    await session.append([5, 6, 7, 8]);
    await session.generate({ maxNewTokens: 20, temperature, stopIds: [], seed: 4 });
    const { mean, max, tokens } = await gapOf(policy, session, temperature);
    assert.is(tokens, 60);
    assert.ok(mean < 1e-5, `mean ${mean}`);
    assert.ok(max < 1e-4, `max ${max}`);
  }
  await policy.close();
});

test('a row holds ids, mask and sampler log-probs of one length, observations with mask 0', async () => {
  const policy = await load();
  const session = await policy.open(PROMPT);
  const turn = await session.generate({ maxNewTokens: 3, stopIds: [] });
  await session.append([9, 10]);
  const row = session.row();
  assert.equal(Array.from(row.ids), [...PROMPT, ...turn.ids, 9, 10]);
  assert.equal(Array.from(row.mask), [...PROMPT.map(() => 0), 1, 1, 1, 0, 0]);
  assert.is(row.samplerLogprobs.length, row.ids.length - 1);
  assert.equal(Array.from(row.samplerLogprobs.slice(PROMPT.length - 1, PROMPT.length + 2)), Array.from(turn.logprobs));
  assert.ok(Number.isNaN(row.samplerLogprobs[0]));
  assert.ok(Number.isNaN(row.samplerLogprobs.at(-1)));
  assert.is(turn.text, undefined);
  await policy.close();
});

test('a seed gives the same tokens alone and in company', async () => {
  const policy = await load();
  const draw = async (seed: number) => {
    const session = await policy.open(PROMPT);
    const turn = await session.generate({ maxNewTokens: 24, stopIds: [], seed });
    session.close();
    return Array.from(turn.ids);
  };
  const alone = await draw(11);
  const [again, other] = await Promise.all([draw(11), draw(12), draw(13), draw(14)]);
  assert.equal(again, alone);
  assert.not.equal(other, alone);
  await policy.close();
});

test('generating in two calls gives the tokens of one call', async () => {
  const policy = await load();
  const whole = await policy.open(PROMPT);
  const once = await whole.generate({ maxNewTokens: 20, stopIds: [], seed: 5 });
  const pieces = await policy.open(PROMPT);
  const first = await pieces.generate({ maxNewTokens: 8, stopIds: [], seed: 5 });
  const second = await pieces.generate({ maxNewTokens: 12, stopIds: [], seed: 5 });
  assert.is(first.finishReason, 'length');
  assert.equal([...first.ids, ...second.ids], Array.from(once.ids));
  await policy.close();
});

test('a fork goes its own way and leaves its parent alone', async () => {
  const policy = await load();
  const parent = await policy.open(PROMPT);
  await parent.generate({ maxNewTokens: 5, stopIds: [], seed: 1 });
  const twin = await parent.fork();
  const control = await policy.open(parent.row().ids);
  const a = await parent.generate({ maxNewTokens: 24, stopIds: [], seed: 2 });
  const b = await twin.generate({ maxNewTokens: 24, stopIds: [], seed: 3 });
  const c = await control.generate({ maxNewTokens: 24, stopIds: [], seed: 2 });
  assert.equal(Array.from(a.ids), Array.from(c.ids));
  assert.not.equal(Array.from(b.ids), Array.from(a.ids));
  assert.ok((await gapOf(policy, twin)).max < 1e-4);
  assert.ok((await gapOf(policy, parent)).max < 1e-4);
  assert.is(twin.length, PROMPT.length + 29);
  await policy.close();
});

test('after an update an open session goes on with the new weights, as a cold one would', async () => {
  const policy = await load();
  const warm = await policy.open(PROMPT);
  await warm.generate({ maxNewTokens: 8, stopIds: [], seed: 1 });
  const row = warm.row();
  const rows = [{ ids: row.ids, mask: row.mask, advantage: 1 }];
  await policy.update({ rows, optimizer: { learningRate: 0.05 } });
  const cold = await policy.open(row.ids);
  const [a, b] = await Promise.all([
    warm.generate({ maxNewTokens: 16, stopIds: [], seed: 2 }),
    cold.generate({ maxNewTokens: 16, stopIds: [], seed: 2 }),
  ]);
  assert.equal(Array.from(a.ids), Array.from(b.ids));
  assert.is(a.weightsVersion, 1);
  const [trainer] = await policy.logprobs([warm.row().ids]);
  const start = row.ids.length - 1;
  a.logprobs.forEach((value, t) => assert.ok(Math.abs(value - (trainer?.[start + t] as number)) < 1e-4));
  await policy.close();
});

test('a stop id ends the turn, is part of it and trained on; no stop ids means none', async () => {
  const policy = await load();
  const session = await policy.open(PROMPT);
  const free = await session.generate({ maxNewTokens: 12, temperature: 0, stopIds: [] });
  assert.is(free.finishReason, 'length');
  const stopId = free.ids[6] as number;
  const again = await policy.open(PROMPT);
  const turn = await again.generate({ maxNewTokens: 12, temperature: 0, stopIds: [9999, stopId] });
  assert.is(turn.finishReason, 'stop');
  assert.is(turn.ids.at(-1), stopId);
  assert.ok(turn.ids.length <= 7);
  assert.is(again.row().mask.at(-1), 1);
  await policy.close();
});

test('the default stop set is that of generation_config.json', async () => {
  const policy = await load();
  assert.equal(policy.stopIds, [2]);
  await policy.close();
});

test('top-k 1 and a tiny top-p draw what greedy does, and say what they cut', async () => {
  const policy = await load();
  const draw = async (options: object) => {
    const session = await policy.open(PROMPT);
    return session.generate({ maxNewTokens: 10, stopIds: [], seed: 1, ...options });
  };
  const greedy = await draw({ temperature: 0 });
  for (const options of [{ topK: 1 }, { topP: 1e-6 }, { minP: 0.999999 }]) {
    const turn = await draw(options);
    assert.equal(Array.from(turn.ids), Array.from(greedy.ids));
    assert.ok(turn.truncatedMass > 0.01, `cut ${turn.truncatedMass}`);
    // Log-probs are those of the whole distribution, whatever was cut.
    turn.logprobs.forEach((value, t) => assert.ok(Math.abs(value - (greedy.logprobs[t] as number)) < 1e-4));
  }
  assert.is((await draw({})).truncatedMass, 0);
  await policy.close();
});

test('an abort ends a turn with what it has, and the policy stays usable', async () => {
  const policy = await load();
  const session = await policy.open(PROMPT);
  const controller = new AbortController();
  const running = session.generate({ maxNewTokens: 400, stopIds: [], signal: controller.signal });
  setTimeout(() => controller.abort(), 30);
  const turn = await running;
  assert.is(turn.finishReason, 'aborted');
  assert.ok(turn.ids.length < 400);
  assert.is(session.length, PROMPT.length + turn.ids.length);
  const next = await session.generate({ maxNewTokens: 2, stopIds: [] });
  assert.is(next.ids.length, 2);
  await policy.close();
});

test('a full context ends the turn, and a prompt over it is an error', async () => {
  const policy = await Policy.load(modelFolder(NAME), { maxContext: 32 });
  const session = await policy.open(PROMPT);
  const turn = await session.generate({ maxNewTokens: 100, stopIds: [] });
  assert.is(turn.finishReason, 'context');
  assert.is(session.length, 32);
  assert.is(await codeOf(policy.open(new Array<number>(32).fill(1))), 'CONTEXT_EXCEEDED');
  assert.is(await codeOf(session.append([1])), 'CONTEXT_EXCEEDED');
  assert.is(await codeOf(policy.logprobs([new Array<number>(33).fill(1)])), 'CONTEXT_EXCEEDED');
  await policy.close();
});

test('bad calls are one clear error each', async () => {
  const policy = await load();
  const session = await policy.open(PROMPT);
  const message = async (work: Promise<unknown>) =>
    work.then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
  assert.match(await message(policy.open([])), /prompt must have at least 1 token/);
  assert.match(await message(policy.open([307])), /\[0\] is 307, outside the vocabulary of 307/);
  assert.match(await message(policy.open([-1])), /promptIds\[0\] must be a token id, got -1/);
  assert.match(await message(session.generate({ maxNewTokens: 0 })), /maxNewTokens must be a whole number >= 1/);
  assert.match(
    await message(session.generate({ maxNewToken: 5 } as never)),
    /unknown option "maxNewToken"; did you mean "maxNewTokens"/,
  );
  assert.match(await message(session.generate({ maxNewTokens: 5, stop: ['x'] })), /stop strings need a tokenizer/);
  assert.match(
    await message(policy.update({ rows: [{ ids: [1, 2], mask: [0], advantage: 1 }] })),
    /^\[update\] rows\[0\].mask must have 2 entries, one per token, but got 1$/,
  );
  assert.match(
    await message(policy.update({ rows: [{ ids: [1, 2], mask: [0, 1], advantage: NaN }] })),
    /rows\[0\].advantage must be finite/,
  );
  await policy.close();
});

test('one session does one thing at a time', async () => {
  const policy = await load();
  const session = await policy.open(PROMPT);
  const running = session.generate({ maxNewTokens: 50, stopIds: [] });
  assert.is(await codeOf(session.append([1])), 'INVALID_ARGUMENT');
  await running;
  await session.append([1]);
  await policy.close();
});

test('closing a session or the policy ends what runs, and later calls say CLOSED', async () => {
  const policy = await load();
  const session = await policy.open(PROMPT);
  const running = session.generate({ maxNewTokens: 400, stopIds: [] });
  session.close();
  assert.is((await running).finishReason, 'aborted');
  assert.is(await codeOf(session.append([1])), 'CLOSED');
  const other = await policy.open(PROMPT);
  const ending = other.generate({ maxNewTokens: 400, stopIds: [] });
  await policy.close();
  assert.is((await ending).finishReason, 'aborted');
  assert.is(await codeOf(policy.open(PROMPT)), 'CLOSED');
  assert.is(await codeOf(other.generate({ maxNewTokens: 1 })), 'CLOSED');
  await policy.close();
});

test('fifty sessions of unequal length decode together as they do alone', async () => {
  const policy = await load();
  const prompts = Array.from({ length: 50 }, (_, i) =>
    Array.from({ length: 1 + ((i * 7) % 60) }, (_, t) => (i * 31 + t * 17) % 307),
  );
  const draw = async (prompt: number[]) => {
    const session = await policy.open(prompt);
    const turn = await session.generate({ maxNewTokens: 6, temperature: 0, stopIds: [] });
    session.close();
    return Array.from(turn.ids);
  };
  const together = await Promise.all(prompts.map(draw));
  for (const i of [0, 7, 23, 49]) assert.equal(await draw(prompts[i] as number[]), together[i]);
  await policy.close();
});

test.run();
