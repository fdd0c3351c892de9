import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveLoss } from '../../lib/policy/loss.js';
import { resolveOptimizer } from '../../lib/policy/optimizer.js';
import type { LossOptions, OptimizerOptions } from '../../lib/policy/types.js';
import { throws } from '../model/fixture-folder.js';

const DEFAULTS = {
  policy: 'clip',
  ratio: 'token',
  aggregation: 'token-mean',
  clipLow: 0.2,
  clipHigh: 0.28,
  clipRatioMax: Infinity,
  cispoMax: Infinity,
  cispoRelative: false,
  sapoTemperaturePositive: 1,
  sapoTemperatureNegative: 1.05,
  kl: 'k3',
  klCoefficient: 0,
  klImportanceCorrected: false,
  entropyCoefficient: 0,
  correction: 'none',
  correctionLevel: 'token',
  correctionLow: 0,
  correctionHigh: 2,
  horizon: 1,
};

test('no options give the documented defaults', () => {
  assert.equal(resolveLoss(undefined, 'update'), DEFAULTS);
  assert.equal(resolveLoss({ kl: undefined, horizon: undefined }, 'update'), DEFAULTS);
});

test('every loss of the contract is accepted as it is written there', () => {
  const losses: LossOptions[] = [
    { policy: 'clip', aggregation: 'sequence-mean' },
    { policy: 'clip', aggregation: 'token-mean', clipRatioMax: 1.8 },
    { policy: 'clip', aggregation: 'constant', horizon: 1024 },
    { policy: 'clip', aggregation: 'sequence-sum-mean', ratio: 'sequence' },
    { policy: 'clip', ratio: 'sequence', aggregation: 'sequence-mean', clipLow: 3e-4, clipHigh: 4e-4 },
    { policy: 'cispo', cispoMax: 5 },
    { policy: 'cispo', cispoRelative: true, clipLow: 0.1, clipHigh: 0.3 },
    { policy: 'sapo', aggregation: 'sequence-mean', sapoTemperaturePositive: 1, sapoTemperatureNegative: 1.05 },
    { klCoefficient: 0.04, kl: 'k2', klImportanceCorrected: true, entropyCoefficient: 0.01 },
  ];
  for (const loss of losses) assert.equal(resolveLoss(loss, 'update'), { ...DEFAULTS, ...loss });
});

interface Vector {
  loss_type: 'grpo' | 'bnpo' | 'dapo' | 'dr_grpo' | 'luspo' | 'cispo' | 'sapo';
  importance_sampling_level: 'token' | 'sequence';
  beta: number;
  clip_low: number;
  clip_high: number;
  delta: number | null;
  kl_importance_corrected: boolean;
  max_completion_length: number;
}

/** The reference's own settings in this package's words. */
function optionsOf(vector: Vector): LossOptions {
  const kl = { klCoefficient: vector.beta, klImportanceCorrected: vector.kl_importance_corrected };
  const common: LossOptions = { ratio: vector.importance_sampling_level, ...kl };
  const clip: LossOptions = { ...common, clipLow: vector.clip_low, clipHigh: vector.clip_high };
  if (vector.delta !== null) clip.clipRatioMax = vector.delta;
  if (vector.loss_type === 'cispo') return { ...common, policy: 'cispo', cispoMax: vector.clip_high };
  if (vector.loss_type === 'sapo') return { ...common, policy: 'sapo', aggregation: 'sequence-mean' };
  if (vector.loss_type === 'grpo') return { ...clip, aggregation: 'sequence-mean' };
  if (vector.loss_type === 'luspo') return { ...clip, aggregation: 'sequence-sum-mean' };
  if (vector.loss_type === 'dr_grpo') {
    return { ...clip, aggregation: 'constant', horizon: vector.max_completion_length };
  }
  return clip;
}

test('every reference vector is accepted with its own settings', () => {
  const path = new URL('../fixtures/loss-vectors.json', import.meta.url);
  const { vectors } = JSON.parse(readFileSync(path, 'utf8')) as { vectors: Vector[] };
  assert.is(vectors.length, 28);
  for (const vector of vectors) {
    const options = optionsOf(vector);
    assert.equal(resolveLoss(options, 'evaluateLoss'), { ...DEFAULTS, ...options });
  }
});

test('CISPO and SAPO also take one ratio a row, as TRL does', () => {
  assert.is(resolveLoss({ policy: 'cispo', cispoMax: 3, ratio: 'sequence' }, 'evaluateLoss').ratio, 'sequence');
  assert.is(resolveLoss({ policy: 'sapo', ratio: 'sequence' }, 'evaluateLoss').ratio, 'sequence');
});

test('a KL coefficient of 0 that is given keeps the KL keys valid, as in a sweep', () => {
  assert.is(resolveLoss({ klCoefficient: 0, kl: 'k2', klImportanceCorrected: true }, 'update').klCoefficient, 0);
});

test('corrections are resolved with their own defaults', () => {
  const { correction, correctionLevel, correctionLow, correctionHigh } = resolveLoss(
    { correction: { kind: 'mask', level: 'geometric', low: 0.5, high: 3 } },
    'update',
  );
  assert.equal([correction, correctionLevel, correctionLow, correctionHigh], ['mask', 'geometric', 0.5, 3]);
  const truncated = resolveLoss({ correction: { kind: 'truncate' } }, 'update');
  assert.equal([truncated.correction, truncated.correctionLevel, truncated.correctionHigh], ['truncate', 'token', 2]);
});

const REFUSED: [object, RegExp][] = [
  [{ klCoeficient: 0.1 }, /\[update\] unknown option "loss\.klCoeficient"; did you mean "klCoefficient"\?/],
  [{ beta: 0.1, zzzzzzzzzz: 1 }, /unknown option "loss\.beta"/],
  [{ zzzzzzzzzz: 1 }, /unknown option "loss\.zzzzzzzzzz"; known are policy, ratio/],
  [{ policy: 'ppo' }, /loss\.policy must be one of "clip", "cispo", "sapo", got "ppo"/],
  [{ aggregation: 'mean' }, /loss\.aggregation must be one of/],
  [{ clipLow: -0.1 }, /loss\.clipLow must be a number >= 0, got -0\.1/],
  [{ clipHigh: NaN }, /loss\.clipHigh must be a number >= 0, got NaN/],
  [{ clipHigh: '0.2' }, /loss\.clipHigh must be a number >= 0, got "0\.2"/],
  [{ klCoefficient: Infinity }, /loss\.klCoefficient must be/],
  [{ policy: 'sapo', clipLow: 0.2 }, /loss\.clipLow does not apply: it needs policy 'clip', or 'cispo' with/],
  [{ policy: 'cispo', cispoMax: 5, clipHigh: 0.3 }, /loss\.clipHigh does not apply/],
  [{ policy: 'sapo', clipRatioMax: 2 }, /loss\.clipRatioMax does not apply: it needs policy 'clip'/],
  [{ cispoMax: 5 }, /loss\.cispoMax does not apply: it needs policy 'cispo'/],
  [{ cispoRelative: false }, /loss\.cispoRelative does not apply/],
  [
    { policy: 'cispo', cispoMax: 5, cispoRelative: true },
    /loss\.cispoMax does not apply: it needs cispoRelative to be/,
  ],
  [{ policy: 'cispo' }, /loss\.policy 'cispo' needs loss\.cispoMax \(absolute cap\) or loss\.cispoRelative: true/],
  [{ policy: 'cispo', cispoRelative: false }, /needs loss\.cispoMax/],
  [{ sapoTemperaturePositive: 1 }, /loss\.sapoTemperaturePositive does not apply: it needs policy 'sapo'/],
  [{ policy: 'clip', sapoTemperatureNegative: 1 }, /loss\.sapoTemperatureNegative does not apply/],
  [{ kl: 'k3' }, /loss\.kl does not apply: it needs klCoefficient/],
  [{ klImportanceCorrected: true }, /loss\.klImportanceCorrected does not apply: it needs klCoefficient/],
  [{ klCoefficient: 0.1, kl: 'k1' }, /loss\.kl must be one of "k2", "k3", got "k1"/],
  [{ horizon: 100 }, /loss\.horizon does not apply: it needs aggregation 'constant'/],
  [{ aggregation: 'constant' }, /loss\.aggregation 'constant' needs loss\.horizon/],
  [{ aggregation: 'constant', horizon: 0 }, /loss\.horizon must be a number > 0/],
  [{ correction: {} }, /loss\.correction\.kind is needed: 'truncate' or 'mask'/],
  [{ correction: 'mask' }, /loss\.correction must be an object, got "mask"/],
  [{ correction: { kind: 'truncate', low: 0.5 } }, /loss\.correction\.low does not apply: it needs kind 'mask'/],
  [
    { correction: { kind: 'mask', low: 3 } },
    /loss\.correction\.low \(3\) must not be above loss\.correction\.high \(2\)/,
  ],
  [
    { correction: { kind: 'mask', levels: 'token' } },
    /unknown option "loss\.correction\.levels"; did you mean "level"/,
  ],
  [[], /loss must be an object/],
];
for (const [loss, message] of REFUSED) {
  test(`loss ${JSON.stringify(loss)} is refused by key`, async () => {
    await throws(() => resolveLoss(loss, 'update'), 'INVALID_ARGUMENT', message);
  });
}

test('no optimizer options give the documented defaults, given ones replace them', () => {
  const defaults = { learningRate: 5e-6, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 };
  assert.equal(resolveOptimizer(undefined, 'update'), defaults);
  const given: OptimizerOptions = { learningRate: 0, betas: [0.8, 0.95], maxGradNorm: Infinity, weightDecay: 0.1 };
  const resolved = { ...defaults, learningRate: 0, beta1: 0.8, beta2: 0.95, maxGradNorm: Infinity, weightDecay: 0.1 };
  assert.equal(resolveOptimizer(given, 'update'), resolved);
});

const BAD_OPTIMIZERS: [object, RegExp][] = [
  [{ lr: 1 }, /unknown option "optimizer\.lr"/],
  [{ learningrate: 1 }, /did you mean "learningRate"\?/],
  [{ learningRate: -1 }, /optimizer\.learningRate must be a number >= 0/],
  [{ betas: [0.9] }, /optimizer\.betas must be two numbers in \[0, 1\), got \[0\.9\]/],
  [{ betas: [0.9, 1] }, /optimizer\.betas must be two numbers/],
  [{ epsilon: 0 }, /optimizer\.epsilon must be a number > 0/],
  [{ maxGradNorm: 0 }, /optimizer\.maxGradNorm must be a number > 0, got 0/],
];
for (const [optimizer, message] of BAD_OPTIMIZERS) {
  test(`optimizer ${JSON.stringify(optimizer)} is refused by key`, async () => {
    await throws(() => resolveOptimizer(optimizer, 'update'), 'INVALID_ARGUMENT', message);
  });
}

test.run();
