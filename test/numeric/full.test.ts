import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/policy/index.js';
import { fixtureRows, stateOf } from '../policy/rows.js';
import { difference, modelFolder, MODELS, readExpected, readFixture } from './fixtures.js';

/** What test/fixtures/gen_full.py wrote; its docstring explains each key. */
interface FullUpdates {
  optimizer: { lr: number; betas: [number, number]; eps: number; weight_decay: number; max_grad_norm: number };
  kl_coefficient: number;
  models: Record<
    string,
    {
      old_logprobs: number[][];
      reference_logprobs: number[][];
      first: { loss: number; grad_norm: number };
      second: { loss: number; mean_kl: number; grad_norm: number };
      logprobs_after: number[][];
      weights: Record<string, { moved: number; ends: number[] }>;
    }
  >;
}

const fixture = readFixture<FullUpdates>('full-updates.json');
const { lr, betas, eps, weight_decay, max_grad_norm } = fixture.optimizer;
const optimizer = { learningRate: lr, betas, epsilon: eps, weightDecay: weight_decay, maxGradNorm: max_grad_norm };

const near = (found: number, expected: number, relative: number, what: string): void =>
  assert.ok(
    Math.abs(found - expected) <= relative * Math.max(1e-3, Math.abs(expected)),
    `${what}: ${found}, ${expected}`,
  );

for (const name of MODELS) {
  const expected = fixture.models[name]!;
  const { inputs } = readExpected(name);

  test(`${name}: two updates of every weight have the loss, norm and log-probs of PyTorch`, async () => {
    const policy = await Policy.load(modelFolder(name), { train: 'full' });
    const rows = fixtureRows(name);
    const first = await policy.update({
      rows: rows.map((row, i) => ({ ...row, oldLogprobs: expected.old_logprobs[i] })),
      optimizer,
    });
    near(first.loss, expected.first.loss, 1e-5, 'loss');
    near(first.gradNorm, expected.first.grad_norm, 1e-5, 'norm');
    assert.is(first.kl, null);
    const second = await policy.update({ rows, loss: { klCoefficient: fixture.kl_coefficient }, optimizer });
    near(second.loss, expected.second.loss, 1e-4, 'loss');
    near(second.kl as number, expected.second.mean_kl, 1e-4, 'kl');
    near(second.gradNorm, expected.second.grad_norm, 1e-4, 'norm');
    assert.is(policy.weightsVersion, 2);

    const after = difference(await policy.logprobs(inputs), expected.logprobs_after);
    assert.ok(after.max < 2e-4 && after.mean < 2e-5, `after: max ${after.max}, mean ${after.mean}`);
    for (const weights of ['reference', 'base'] as const) {
      const start = difference(await policy.logprobs(inputs, { weights }), expected.reference_logprobs);
      assert.ok(start.max < 1e-4, `${weights} are the weights at load: ${start.max}`);
    }

    const state = await stateOf(policy);
    for (const [tensor, { moved, ends }] of Object.entries(expected.weights)) {
      const found = state.get(tensor)!;
      const tolerance = 1e-3 * moved + 1e-6;
      const places = [0, 1, 2, 3, found.length - 4, found.length - 3, found.length - 2, found.length - 1];
      places.forEach((at, i) => {
        const d = Math.abs(found[at]! - ends[i]!);
        assert.ok(d <= tolerance, `${tensor}[${at}] is off by ${d}, it moved by ${moved} on average`);
      });
    }
    const trained = [...state.keys()].filter((tensor) => !tensor.endsWith('_moment'));
    assert.equal(trained.sort(), Object.keys(expected.weights).sort(), 'a tied head is one weight');
    await policy.close();
  });

  test(`${name}: what is sampled after a full update has the log-probs of the new weights`, async () => {
    const policy = await Policy.load(modelFolder(name), { train: 'full' });
    await policy.update({ rows: fixtureRows(name), optimizer: { ...optimizer, learningRate: 1e-2 } });
    const session = await policy.open(inputs[1]!);
    const turn = await session.generate({ maxNewTokens: 12, stopIds: [], seed: 3 });
    assert.is(turn.weightsVersion, 1);
    const [scored] = await policy.logprobs([session.row().ids]);
    const gap = difference([turn.logprobs], [scored!.slice(-12)]);
    assert.ok(gap.max < 1e-4, `gap ${gap.max}`);
    await policy.close();
  });
}

test('micro-batches and recomputation do not change the gradient of a full update', async () => {
  const norms: number[] = [];
  for (const options of [{ microBatchTokens: 4096 }, { microBatchTokens: 1 }]) {
    const policy = await Policy.load(modelFolder('qwen2-tiny'), { train: 'full' });
    norms.push((await policy.update({ rows: fixtureRows('qwen2-tiny'), optimizer, ...options })).gradNorm);
    await policy.close();
  }
  near(norms[1]!, norms[0]!, 1e-6, 'norm');
});

test.run();
