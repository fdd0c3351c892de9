import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/policy/index.js';
import { difference, modelFolder, MODELS, readExpected } from './fixtures.js';

for (const name of MODELS) {
  const expected = readExpected(name);
  const adapter = `${modelFolder(name)}/adapter`;

  test(`${name}: log-probs of base and adapter are those of transformers and PEFT`, async () => {
    const policy = await Policy.load(modelFolder(name), { adapter });
    const base = difference(await policy.logprobs(expected.inputs, { weights: 'base' }), expected.logprobs);
    const adapted = difference(await policy.logprobs(expected.inputs), expected.lora.logprobs);
    for (const { max, mean } of [base, adapted]) {
      assert.ok(max < 1e-4, `max ${max}`);
      assert.ok(mean < 1e-5, `mean ${mean}`);
    }
    await policy.close();
  });

  test(`${name}: the reference is the adapter that training started from, or the base when asked for`, async () => {
    const start = await Policy.load(modelFolder(name), { adapter });
    const own = difference(await start.logprobs(expected.inputs, { weights: 'reference' }), expected.lora.logprobs);
    assert.ok(own.max < 1e-4, `max ${own.max}`);
    await start.close();
    const base = await Policy.load(modelFolder(name), { adapter, reference: 'base' });
    const pulled = difference(await base.logprobs(expected.inputs, { weights: 'reference' }), expected.logprobs);
    assert.ok(pulled.max < 1e-4, `max ${pulled.max}`);
    await base.close();
  });

  test(`${name}: greedy tokens are those of transformers, however many sequences decode together`, async () => {
    const policy = await Policy.load(modelFolder(name), { train: 'none' });
    const found = await Promise.all(
      expected.inputs.map(async (ids) => {
        const session = await policy.open(ids);
        const turn = await session.generate({ maxNewTokens: 16, temperature: 0, stopIds: [] });
        return Array.from(turn.ids);
      }),
    );
    assert.equal(found, expected.greedy);
    await policy.close();
  });
}

test('the log-probs of a row do not depend on the rows beside it', async () => {
  const { inputs } = readExpected('llama-tiny');
  const policy = await Policy.load(modelFolder('llama-tiny'), { train: 'none' });
  const together = await policy.logprobs(inputs);
  const apart = await Promise.all(inputs.map(async (ids) => (await policy.logprobs([ids]))[0] as Float32Array));
  assert.ok(difference(together, apart).max < 1e-5);
  await policy.close();
});

test('a temperature divides the logits, and rows of one token have no log-probs', async () => {
  const { inputs } = readExpected('qwen3-tiny');
  const policy = await Policy.load(modelFolder('qwen3-tiny'), { train: 'none' });
  const [first, empty] = await policy.logprobs([inputs[0] as number[], [5]], { temperature: 0.5 });
  assert.is(empty?.length, 0);
  // log softmax(z / T) from the probabilities at T = 1 over the whole vocabulary at the last position.
  const row = (inputs[0] as number[]).slice(0, 6);
  const next = (inputs[0] as number[])[6] as number;
  const all = await policy.logprobs(Array.from({ length: 331 }, (_, id) => [...row, id]));
  const scaled = all.map((entries) => Math.exp((entries.at(-1) as number) / 0.5));
  const total = scaled.reduce((sum, value) => sum + value, 0);
  assert.ok(Math.abs(Math.log((scaled[next] as number) / total) - (first?.[5] as number)) < 1e-4);
  await policy.close();
});

test.run();
