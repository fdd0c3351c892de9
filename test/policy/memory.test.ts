import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy, type UpdateStats } from '../../lib/policy/index.js';
import { rejects } from '../model/fixture-folder.js';
import { modelFolder, readExpected } from '../numeric/fixtures.js';
import { changedTensors, fixtureRows, stateOf } from './rows.js';

const NAME = 'llama-tiny';
const MODEL = modelFolder(NAME);
const rows = fixtureRows(NAME);
const MB = 1 << 20;

async function attempt(train: 'lora' | 'full', memoryBytes: number | undefined, microBatchTokens = 4096) {
  const policy = await Policy.load(MODEL, { memoryBytes, train });
  const update = { rows, optimizer: { learningRate: 1e-3 }, microBatchTokens };
  const result = await policy.update(update).catch((error: unknown) => error as Error);
  const state = await stateOf(policy);
  // Whatever happened, the policy goes on.
  assert.is((await policy.logprobs([rows[0]!.ids])).length, 1);
  await policy.close();
  return { result, state };
}

for (const train of ['lora', 'full'] as const) {
  test(`${train}: less memory gives recomputed micro-batches of the same bits, then names the row that does not fit`, async () => {
    const policy = await Policy.load(MODEL, { train });
    const held = policy.description.weightBytes * (train === 'full' ? 2.2 : 1.3);
    await policy.close();
    const whole = await attempt(train, undefined);
    // The rows have 7, 23, 33 and 64 tokens: two micro-batches of 64 at most.
    const halves = await attempt(train, undefined, 64);
    assert.is((halves.result as UpdateStats).microBatches, 2);
    const seen = new Set<string>();
    for (let room = 8 * MB, i = 0; i < 10 && !seen.has('refused'); i++, room /= 1.3) {
      const { result, state } = await attempt(train, Math.round(held + room));
      if (result instanceof Error) {
        seen.add('refused');
        assert.is((result as Error & { code: string }).code, 'OUT_OF_MEMORY');
        assert.match(
          result.message,
          /a row of \d+ tokens, alone and with recomputation, would take .* memoryBytes allows/,
        );
        continue;
      }
      assert.is(result.skipped, null);
      if (!result.recomputed) {
        seen.add('whole');
        assert.is(result.note, null);
        assert.equal(changedTensors(state, whole.state), []);
        continue;
      }
      assert.match(
        result.note ?? '',
        /memory allows micro-batches of 6\d tokens \(4096 were asked for\), blocks recomputed/,
      );
      if (result.microBatches !== 2) continue;
      seen.add('halves');
      assert.equal(changedTensors(state, halves.state), [], 'recomputation gives the same bits');
    }
    assert.equal([...seen], ['whole', 'halves', 'refused']);
  });
}

test('weights that the budget has no room for are refused at load', async () => {
  await rejects(
    Policy.load(MODEL, { memoryBytes: 1000 }),
    'OUT_OF_MEMORY',
    /the weights and the optimizer's moments would take \d\.\d MB, but only 0\.0 MB of the 0\.0 MB that memoryBytes allows/,
  );
});

test('keys and values count too: generation is refused, and the policy stays usable', async () => {
  const { inputs } = readExpected(NAME);
  const free = await Policy.load(MODEL, { train: 'none' });
  const { weightBytes } = free.description;
  await free.close();
  const policy = await Policy.load(MODEL, { train: 'none', memoryBytes: weightBytes + 100_000 });
  const session = await policy.open(inputs[0]!);
  await rejects(session.generate({ maxNewTokens: 2 }), 'OUT_OF_MEMORY', /room for keys and values would take/);
  session.close();
  assert.is((await policy.logprobs(inputs)).length, inputs.length);
  await policy.close();
});

test.run();
