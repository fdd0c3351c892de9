import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy, type UpdateOptions } from '../../lib/policy/index.js';
import { readSafetensorsValues } from './safetensors-values.js';
import { difference, modelFolder, MODELS, readExpected, type Expected } from './fixtures.js';

function updateOf(expected: Expected): UpdateOptions {
  const { mask, advantages, old_logprobs, beta, clip_low, clip_high, optimizer } = expected.lora.update;
  return {
    rows: expected.inputs.map((ids, i) => ({
      ids,
      mask: mask[i] as number[],
      advantage: advantages[i] as number,
      oldLogprobs: old_logprobs[i] as number[],
    })),
    loss: { klCoefficient: beta, clipLow: clip_low, clipHigh: clip_high },
    optimizer: {
      learningRate: optimizer.lr,
      betas: optimizer.betas,
      epsilon: optimizer.eps,
      weightDecay: optimizer.weight_decay,
      maxGradNorm: optimizer.max_grad_norm,
    },
  };
}

const loadAdapted = (name: string) =>
  Policy.load(modelFolder(name), { adapter: `${modelFolder(name)}/adapter`, reference: 'base' });

async function savedAdapter(policy: Policy): Promise<Map<string, Float32Array>> {
  const folder = join(mkdtempSync(join(tmpdir(), 'grpo-')), 'adapter');
  await policy.saveAdapter(folder);
  return readSafetensorsValues(join(folder, 'adapter_model.safetensors'));
}

for (const name of MODELS) {
  const expected = readExpected(name);
  const { loss, mean_kl, grad_norm, logprobs_after } = expected.lora.update;

  test(`${name}: one update has the loss, KL, gradient norm and adapter of PyTorch`, async () => {
    const policy = await loadAdapted(name);
    const stats = await policy.update(updateOf(expected));
    assert.ok(Math.abs(stats.loss - loss) <= 1e-5 * Math.max(1, Math.abs(loss)), `loss ${stats.loss} for ${loss}`);
    assert.ok(Math.abs((stats.kl as number) - mean_kl) < 1e-5, `kl ${stats.kl} for ${mean_kl}`);
    assert.ok(Math.abs(stats.gradNorm - grad_norm) < 1e-4 * grad_norm, `norm ${stats.gradNorm} for ${grad_norm}`);
    assert.is(stats.skipped, null);
    assert.is(stats.tokens, 74);
    assert.is(policy.weightsVersion, 1);
    assert.ok(difference(await policy.logprobs(expected.inputs), logprobs_after).max < 1e-4);

    const found = await savedAdapter(policy);
    const wanted = readSafetensorsValues(join(modelFolder(name), 'adapter_after/adapter_model.safetensors'));
    const before = readSafetensorsValues(join(modelFolder(name), 'adapter/adapter_model.safetensors'));
    let far = 0;
    let total = 0;
    let moved = 0;
    assert.equal([...found.keys()].sort(), [...wanted.keys()].sort());
    for (const [key, values] of wanted) {
      values.forEach((value, i) => {
        const d = Math.abs((found.get(key)?.[i] as number) - value);
        assert.ok(d < 1e-4, `${key}[${i}] differs by ${d}`);
        far += d > 1e-5 ? 1 : 0;
        moved += Math.abs((found.get(key)?.[i] as number) - (before.get(key)?.[i] as number)) > 1e-5 ? 1 : 0;
        total++;
      });
    }
    assert.ok(far <= 0.001 * total, `${far} of ${total} elements differ by more than 1e-5`);
    assert.ok(moved > 0.99 * total, `only ${moved} of ${total} elements moved`);
    await policy.close();
  });

  test(`${name}: micro-batches of one row, two rows and all rows give the same gradient`, async () => {
    const norms: number[] = [];
    const adapters: Map<string, Float32Array>[] = [];
    // The rows have 7, 23, 33 and 64 tokens.
    for (const microBatchTokens of [1, 64, 4096]) {
      const policy = await loadAdapted(name);
      norms.push((await policy.update({ ...updateOf(expected), microBatchTokens })).gradNorm);
      adapters.push(await savedAdapter(policy));
      await policy.close();
    }
    for (const norm of norms)
      assert.ok(Math.abs(norm - (norms[0] as number)) < 1e-6 * norm, `norms ${norms.join(', ')}`);
    for (const adapter of adapters) {
      for (const [key, values] of adapter)
        assert.ok(difference([values], [adapters[0]?.get(key) as Float32Array]).max < 1e-5);
    }
  });
}

test('without old log-probs the ratio is 1 and its gradient is that of old log-probs equal to the current ones', async () => {
  const expected = readExpected('llama-tiny');
  const options = updateOf(expected);
  const policy = await loadAdapted('llama-tiny');
  const current = await policy.logprobs(expected.inputs);
  const given = await policy.update({
    ...options,
    rows: options.rows.map((row, i) => ({ ...row, oldLogprobs: current[i] })),
  });
  await policy.close();
  const other = await loadAdapted('llama-tiny');
  const without = await other.update({
    ...options,
    rows: options.rows.map(({ ids, mask, advantage }) => ({ ids, mask, advantage })),
  });
  assert.is(without.ratioMax, 1);
  assert.ok(Math.abs(given.gradNorm - without.gradNorm) < 1e-5 * without.gradNorm);
  await other.close();
});

test('the temperature of a row applies to policy, old and reference alike', async () => {
  const expected = readExpected('qwen2-tiny');
  const options = updateOf(expected);
  const policy = await loadAdapted('qwen2-tiny');
  const old = await policy.logprobs(expected.inputs, { temperature: 0.7 });
  const rows = options.rows.map((row, i) => ({
    ...row,
    temperature: 0.7,
    oldLogprobs: old[i],
    samplerLogprobs: old[i],
  }));
  const stats = await policy.update({ ...options, rows });
  assert.ok(Math.abs(stats.ratioMax - 1) < 1e-4, `ratio ${stats.ratioMax}`);
  assert.ok((stats.samplerTrainerGap as number) < 1e-5, `gap ${stats.samplerTrainerGap}`);
  await policy.close();
});

test('a fresh adapter has KL 0 to its reference, and the base weights never change', async () => {
  const expected = readExpected('qwen3-tiny');
  const policy = await Policy.load(modelFolder('qwen3-tiny'), { lora: { targetModules: ['q_proj', 'down_proj'] } });
  const before = await policy.logprobs(expected.inputs, { weights: 'base' });
  const rows = updateOf(expected).rows.map(({ ids, mask, advantage }) => ({ ids, mask, advantage }));
  const first = await policy.update({ rows, loss: { klCoefficient: 0.05 }, optimizer: { learningRate: 1e-2 } });
  assert.is(first.kl, 0);
  const second = await policy.update({ rows, loss: { klCoefficient: 0.05 }, optimizer: { learningRate: 1e-2 } });
  assert.ok((second.kl as number) > 1e-6, `kl ${second.kl}`);
  assert.is(difference(await policy.logprobs(expected.inputs, { weights: 'base' }), before).max, 0);
  await policy.close();
});

test('an update without a trained token is skipped and changes nothing', async () => {
  const policy = await loadAdapted('llama-tiny');
  const stats = await policy.update({ rows: [{ ids: [1, 2, 3], mask: [1, 0, 0], advantage: 1 }] });
  assert.match(stats.skipped ?? '', /no row has a token with mask 1/);
  assert.is(stats.loss, 0);
  assert.is(policy.weightsVersion, 0);
  await policy.close();
});

test('an aborted update throws ABORTED and changes nothing', async () => {
  const expected = readExpected('llama-tiny');
  const policy = await loadAdapted('llama-tiny');
  const before = await policy.logprobs(expected.inputs);
  const error = await policy.update({ ...updateOf(expected), signal: AbortSignal.abort() }).then(
    () => undefined,
    (thrown: unknown) => thrown as { code: string },
  );
  assert.is(error?.code, 'ABORTED');
  assert.is(policy.weightsVersion, 0);
  assert.is(difference(await policy.logprobs(expected.inputs), before).max, 0);
  await policy.close();
});

test('the entropy bonus raises the entropy', async () => {
  const expected = readExpected('llama-tiny');
  const policy = await loadAdapted('llama-tiny');
  const rows = updateOf(expected).rows.map(({ ids, mask }) => ({ ids, mask, advantage: 0 }));
  const options = { rows, loss: { entropyCoefficient: 1 }, optimizer: { learningRate: 1e-2 } };
  const first = await policy.update(options);
  const second = await policy.update(options);
  assert.ok(Math.abs(first.loss + first.entropy) < 1e-6, `loss ${first.loss}, entropy ${first.entropy}`);
  assert.ok(second.entropy > first.entropy + 1e-3, `${first.entropy} -> ${second.entropy}`);
  await policy.close();
});

test.run();
