import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveDtype, resolveLoadOptions, resolveMaxContext } from '../../lib/policy/load-options.js';
import type { LoadOptions } from '../../lib/policy/types.js';
import { throws } from '../model/fixture-folder.js';

test('no options give the documented defaults', () => {
  assert.equal(resolveLoadOptions(undefined), {
    device: 'cpu',
    dtype: 'auto',
    train: 'lora',
    lora: { rank: 16, alpha: 32, dropout: 0, targetModules: ['q_proj', 'v_proj'], rankStabilised: false },
    adapter: undefined,
    resume: undefined,
    memoryBytes: 0,
    reference: 'start',
    maxContext: undefined,
    seed: 42,
    support: 'tokenizer',
    strict: false,
    revision: undefined,
    signal: undefined,
  });
});

test('given options replace the defaults, target modules come in model order and once', () => {
  const lora = {
    rank: 4,
    alpha: 8,
    dropout: 0.1,
    targetModules: ['up_proj', 'k_proj', 'up_proj'],
    rankStabilised: true,
  };
  const { signal } = new AbortController();
  const resolved = resolveLoadOptions({ lora, device: 'cpu', maxContext: 2048, seed: 0, revision: 'v1', signal });
  assert.equal(resolved.lora, { ...lora, targetModules: ['k_proj', 'up_proj'] });
  assert.equal([resolved.maxContext, resolved.seed, resolved.revision], [2048, 0, 'v1']);
  assert.is(resolved.signal, signal);
});

test('an adapter folder or nothing to train leave no fresh LoRA', () => {
  assert.is(resolveLoadOptions({ adapter: 'folder' }).lora, undefined);
  assert.is(resolveLoadOptions({ adapter: 'folder' }).adapter, 'folder');
  assert.is(resolveLoadOptions({ train: 'none' }).lora, undefined);
  assert.is(resolveLoadOptions({ train: 'none', adapter: 'folder' }).train, 'none');
});

test('train full computes in float32 and has no adapter', () => {
  const { dtype, lora, train } = resolveLoadOptions({ train: 'full' });
  assert.equal([dtype, lora, train], ['float32', undefined, 'full']);
});

test('strict computes in float32', () => {
  assert.is(resolveLoadOptions({ strict: true }).dtype, 'float32');
});

test("dtype auto is the file's, half widened to bfloat16, float32 without bfloat16 instructions", () => {
  assert.is(resolveDtype('auto', 'BF16', true), 'bfloat16');
  assert.is(resolveDtype('auto', 'F16', true), 'bfloat16');
  assert.is(resolveDtype('auto', 'F32', true), 'float32');
  assert.is(resolveDtype('auto', 'BF16', false), 'float32');
  assert.is(resolveDtype('auto', 'F16', false), 'float32');
  assert.is(resolveDtype('bfloat16', 'F32', false), 'bfloat16');
  assert.is(resolveDtype('float32', 'BF16', true), 'float32');
});

test("the context is the model's unless less is asked for", async () => {
  assert.is(resolveMaxContext(undefined, 512), 512);
  assert.is(resolveMaxContext(100, 512), 100);
  await throws(() => resolveMaxContext(513, 512), 'INVALID_ARGUMENT', /maxContext must be <= 512.*got 513/);
});

const REFUSED: [unknown, RegExp][] = [
  [{ adaptor: 'folder' }, /\[load\] unknown option "adaptor"; did you mean "adapter"\?/],
  [{ lora: { ranks: 4 } }, /unknown option "lora\.ranks"; did you mean "rank"\?/],
  [{ lora: { rank: 0 } }, /lora\.rank must be a whole number >= 1 and <= 1024, got 0/],
  [{ lora: { rank: 2.5 } }, /lora\.rank must be a whole number/],
  [{ lora: { alpha: 0 } }, /lora\.alpha must be a number > 0/],
  [{ lora: { dropout: 1 } }, /lora\.dropout must be a number >= 0 and < 1, got 1/],
  [{ lora: { targetModules: [] } }, /lora\.targetModules must be a list with at least one of q_proj/],
  [{ lora: { targetModules: ['qproj'] } }, /lora\.targetModules: unknown module "qproj"; did you mean "q_proj"\?/],
  [{ lora: { targetModules: ['lm_head'] } }, /unknown module "lm_head"/],
  [{ lora: 16 }, /lora must be an object, got 16/],
  [{ train: 'none', lora: { rank: 4 } }, /lora does not apply: it needs train 'lora'/],
  [{ adapter: 'folder', lora: { rank: 4 } }, /lora does not apply: it needs no adapter/],
  [{ train: 'full', dtype: 'bfloat16' }, /train 'full' computes in float32/],
  [{ train: 'full', lora: { rank: 4 } }, /lora does not apply: it needs train 'lora'/],
  [
    { train: 'full', adapter: 'folder' },
    /adapter does not apply: it needs train 'lora' or 'none'; merge .* exportMerged/,
  ],
  [{ resume: 'folder', adapter: 'other' }, /adapter does not apply: it needs no resume/],
  [{ lora: { rankStabilised: 1 } }, /lora\.rankStabilised must be true or false, got 1/],
  [{ memoryBytes: 0 }, /memoryBytes must be a whole number >= 1, got 0/],
  [{ train: 'qlora' }, /train must be one of "lora", "full", "none", got "qlora"/],
  [{ device: 'cuda' }, /device "cuda" is not available: this version runs on the CPU/],
  [{ device: 'cuda:1' }, /device "cuda:1" is not available/],
  [{ device: 'tpu' }, /device must be 'auto', 'cpu', 'cuda' or 'cuda:N', got "tpu"/],
  [{ dtype: 'float16' }, /dtype must be one of "auto", "float32", "bfloat16", got "float16"/],
  [{ strict: true, dtype: 'bfloat16' }, /strict: true computes in float32/],
  [{ strict: 1 }, /strict must be true or false, got 1/],
  [{ reference: 'end' }, /reference must be one of "start", "base"/],
  [{ support: 'some' }, /support must be one of/],
  [{ maxContext: 0 }, /maxContext must be a whole number >= 1, got 0/],
  [{ seed: -1 }, /seed must be a whole number >= 0, got -1/],
  [{ adapter: '' }, /adapter must be a non-empty string, got ""/],
  [{ signal: {} }, /signal must be an AbortSignal/],
  ['folder', /options must be an object, got "folder"/],
];
for (const [options, message] of REFUSED) {
  test(`load options ${JSON.stringify(options)} are refused by key`, async () => {
    await throws(() => resolveLoadOptions(options as LoadOptions), 'INVALID_ARGUMENT', message);
  });
}

test.run();
