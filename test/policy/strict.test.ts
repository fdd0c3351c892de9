import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/policy/index.js';
import { modelFolder, MODELS, readExpected } from '../numeric/fixtures.js';

/** Bytes, so that a difference in the last bit is seen. */
const bits = (values: Float32Array): string =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('hex');

for (const name of MODELS) {
  test(`${name}: a strict policy samples the same tokens and log-probs, bit for bit, alone and in company`, async () => {
    const policy = await Policy.load(modelFolder(name), { strict: true, train: 'none' });
    const inputs = readExpected(name).inputs;
    const draw = async (ids: number[], seed: number) => {
      const session = await policy.open(ids);
      const turn = await session.generate({ maxNewTokens: 40, stopIds: [], seed });
      await session.append(ids.slice(0, 9));
      const next = await session.generate({ maxNewTokens: 8, stopIds: [], seed });
      session.close();
      return [Array.from(turn.ids), bits(turn.logprobs), Array.from(next.ids), bits(next.logprobs)];
    };
    const alone = [];
    for (const [i, ids] of inputs.entries()) alone.push(await draw(ids, i));
    // Long prompts make the engine feed pieces of other sizes, and many sessions fill whole blocks of rows.
    const company = Array.from({ length: 30 }, (_, i) =>
      draw(inputs[i % inputs.length]?.slice(0, 1 + i) as number[], 100 + i),
    );
    const together = await Promise.all(inputs.map(draw));
    await Promise.all(company);
    assert.equal(together, alone);
    await policy.close();
  });
}

test('strict computes in float32 and refuses bfloat16', async () => {
  const policy = await Policy.load(modelFolder('llama-tiny'), { strict: true });
  assert.is(policy.description.dtype, 'float32');
  await policy.close();
  const error = await Policy.load(modelFolder('llama-tiny'), { strict: true, dtype: 'bfloat16' }).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  assert.match(error?.message ?? '', /strict: true computes in float32/);
});

test.run();
