import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluateLoss, type LossOptions } from '../../lib/policy/index.js';
import { difference, readFixture } from './fixtures.js';

interface Vector {
  loss_type: string;
  importance_sampling_level: 'token' | 'sequence';
  beta: number;
  clip_low: number;
  clip_high: number;
  delta: number | null;
  kl_importance_corrected: boolean;
  max_completion_length: number;
  advantages: number[];
  mask: number[][];
  logprobs: number[][];
  old_logprobs: number[][];
  ref_logprobs: number[][];
  loss: number;
  grad: number[][];
}

/** TRL's names, as docs/losses.md lists them. */
const KNOWN_AS: Record<string, LossOptions> = {
  grpo: { policy: 'clip', aggregation: 'sequence-mean' },
  bnpo: { policy: 'clip', aggregation: 'token-mean' },
  dapo: { policy: 'clip', aggregation: 'token-mean' },
  dr_grpo: { policy: 'clip', aggregation: 'constant' },
  luspo: { policy: 'clip', aggregation: 'sequence-sum-mean' },
  cispo: { policy: 'cispo', aggregation: 'token-mean' },
  sapo: { policy: 'sapo', aggregation: 'sequence-mean' },
};

function optionsOf(vector: Vector): LossOptions {
  const known = KNOWN_AS[vector.loss_type] as LossOptions;
  const options: LossOptions = { ...known, ratio: vector.importance_sampling_level, klCoefficient: vector.beta };
  if (known.policy === 'clip') Object.assign(options, { clipLow: vector.clip_low, clipHigh: vector.clip_high });
  if (vector.delta !== null) options.clipRatioMax = vector.delta;
  if (known.policy === 'cispo') options.cispoMax = vector.clip_high;
  if (known.aggregation === 'constant') options.horizon = vector.max_completion_length;
  if (vector.beta !== 0) options.klImportanceCorrected = vector.kl_importance_corrected;
  return options;
}

for (const [i, vector] of readFixture<{ vectors: Vector[] }>('loss-vectors.json').vectors.entries()) {
  test(`vector ${i}, ${vector.loss_type} by ${vector.importance_sampling_level}: loss and gradient of TRL`, () => {
    const batch = {
      logprobs: vector.logprobs,
      oldLogprobs: vector.old_logprobs,
      referenceLogprobs: vector.ref_logprobs,
      mask: vector.mask,
      advantages: vector.advantages,
    };
    const found = evaluateLoss(batch, optionsOf(vector));
    assert.ok(Math.abs(found.loss - vector.loss) < 1e-9, `loss ${found.loss} for ${vector.loss}`);
    assert.ok(difference(found.gradient, vector.grad).max < 1e-9);
  });
}

// Two rows of one prompt with population-std advantages (+1, -1); the third token of the first row is an observation.
const GOLDEN = {
  logprobs: [
    [-0.4, -1.3, -2.0, -0.2],
    [-0.9, -0.6],
  ],
  oldLogprobs: [
    [-0.5, -1.0, -3.0, -0.2],
    [-0.7, -0.9],
  ],
  referenceLogprobs: [
    [-0.6, -1.0, -2.5, -0.3],
    [-0.7, -1.0],
  ],
  samplerLogprobs: [
    [-0.6, -1.9, -3.0, -0.2],
    [-0.7, -0.5],
  ],
  mask: [
    [1, 1, 0, 1],
    [1, 1],
  ],
  advantages: [1, -1],
};
const SYMMETRIC = { clipLow: 0.2, clipHigh: 0.2 };
const cases: [string, LossOptions, number][] = [
  ['token mean', SYMMETRIC, -0.13548],
  ['mean over rows of token means', { ...SYMMETRIC, aggregation: 'sequence-mean' }, 0.067816],
  ['mean over rows of token sums', { ...SYMMETRIC, aggregation: 'sequence-sum-mean' }, -0.3387],
  ['a constant horizon', { ...SYMMETRIC, aggregation: 'constant', horizon: 8 }, -0.042337],
  ['GSPO', { ratio: 'sequence', aggregation: 'sequence-mean', clipLow: 3e-4, clipHigh: 4e-4 }, 0.057882],
  ['CISPO with relative bounds', { policy: 'cispo', cispoRelative: true, clipLow: 0.2, clipHigh: 0.28 }, 0.035442],
  ['CISPO with an absolute cap', { policy: 'cispo', cispoMax: 5 }, 0.011672],
  ['k3 to the reference', { ...SYMMETRIC, klCoefficient: 1 }, -0.13548 + 0.03303],
  ['k2 to the reference', { ...SYMMETRIC, kl: 'k2', klCoefficient: 1 }, -0.13548 + 0.034],
  ['truncated importance correction', { ...SYMMETRIC, correction: { kind: 'truncate', high: 2 } }, -0.395894],
  ['masked importance correction', { ...SYMMETRIC, correction: { kind: 'mask', low: 0.5, high: 2 } }, -0.099567],
];
for (const [name, loss, expected] of cases) {
  test(`the golden rows give the published number: ${name}`, () => {
    assert.ok(Math.abs(evaluateLoss(GOLDEN, loss).loss - expected) < 2e-6, String(evaluateLoss(GOLDEN, loss).loss));
  });
}

test('masked entries can be anything, even NaN and infinity, and change nothing', () => {
  const poisoned = {
    ...GOLDEN,
    logprobs: [
      [-0.4, -1.3, NaN, -0.2],
      [-0.9, -0.6],
    ],
    oldLogprobs: [
      [-0.5, -1.0, -Infinity, -0.2],
      [-0.7, -0.9],
    ],
  };
  const { referenceLogprobs: _reference, samplerLogprobs: _sampler, ...plain } = GOLDEN;
  const clean = evaluateLoss(plain, SYMMETRIC);
  const found = evaluateLoss({ ...plain, logprobs: poisoned.logprobs, oldLogprobs: poisoned.oldLogprobs }, SYMMETRIC);
  assert.is(found.loss, clean.loss);
  assert.equal(found.gradient, clean.gradient);
});

test('the gradient of every option is the derivative of its loss', () => {
  const options: LossOptions[] = [
    {},
    { ratio: 'sequence', aggregation: 'sequence-mean', clipLow: 0.3, clipHigh: 0.4, klCoefficient: 0.1 },
    { policy: 'sapo', aggregation: 'sequence-mean', klCoefficient: 0.1, klImportanceCorrected: true },
    { clipRatioMax: 1.2, klCoefficient: 0.2, kl: 'k2', klImportanceCorrected: true },
    { ratio: 'sequence', klCoefficient: 0.2, klImportanceCorrected: true, aggregation: 'sequence-sum-mean' },
  ];
  const { samplerLogprobs: _, ...batch } = GOLDEN;
  for (const loss of options) {
    const { gradient } = evaluateLoss(batch, loss);
    batch.logprobs.forEach((row, b) =>
      row.forEach((value, t) => {
        const at = (shift: number) => {
          const logprobs = batch.logprobs.map((entries) => [...entries]);
          (logprobs[b] as number[])[t] = value + shift;
          return evaluateLoss({ ...batch, logprobs }, loss).loss;
        };
        const numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert.ok(Math.abs(numeric - (gradient[b]?.[t] as number)) < 1e-6, `${JSON.stringify(loss)} [${b}][${t}]`);
      }),
    );
  }
});

test('rows without a masked-in token leave numerator and denominator', () => {
  const { samplerLogprobs: _, ...batch } = GOLDEN;
  const wider = {
    logprobs: [...batch.logprobs, [-1, -2]],
    oldLogprobs: [...batch.oldLogprobs, [-1, -2]],
    referenceLogprobs: [...batch.referenceLogprobs, [-1, -2]],
    mask: [...batch.mask, [0, 0]],
    advantages: [...batch.advantages, 5],
  };
  for (const aggregation of ['token-mean', 'sequence-mean', 'sequence-sum-mean'] as const) {
    assert.is(evaluateLoss(wider, { aggregation }).loss, evaluateLoss(batch, { aggregation }).loss);
  }
});

test.run();
