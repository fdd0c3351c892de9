import type { NativeLoss } from '../addon-types.js';
import { OptionFields } from './option-fields.js';
import type { LossOptions } from './types.js';

const LOSS_KEYS: readonly (keyof LossOptions)[] = [
  'policy',
  'ratio',
  'aggregation',
  'clipLow',
  'clipHigh',
  'clipRatioMax',
  'cispoMax',
  'cispoRelative',
  'sapoTemperaturePositive',
  'sapoTemperatureNegative',
  'kl',
  'klCoefficient',
  'klImportanceCorrected',
  'entropyCoefficient',
  'correction',
  'horizon',
];
const CORRECTION_KEYS = ['kind', 'level', 'low', 'high'];
const POSITIVE = { above: 0 };
const FINITE_NOT_NEGATIVE = { min: 0, max: Number.MAX_VALUE };

function checkApplicable(fields: OptionFields, policy: string, aggregation: string): void {
  const relative = fields.boolean('cispoRelative', false);
  fields.onlyWhen(policy === 'cispo', ['cispoMax', 'cispoRelative'], "policy 'cispo'");
  fields.onlyWhen(policy === 'sapo', ['sapoTemperaturePositive', 'sapoTemperatureNegative'], "policy 'sapo'");
  fields.onlyWhen(policy === 'clip', ['clipRatioMax'], "policy 'clip'");
  const clips = policy === 'clip' || relative;
  fields.onlyWhen(clips, ['clipLow', 'clipHigh'], "policy 'clip', or 'cispo' with cispoRelative: true");
  fields.onlyWhen(!relative, ['cispoMax'], 'cispoRelative to be off; the relative bounds are clipLow and clipHigh');
  fields.onlyWhen(fields.has('klCoefficient'), ['kl', 'klImportanceCorrected'], 'klCoefficient');
  fields.onlyWhen(aggregation === 'constant', ['horizon'], "aggregation 'constant'");
  if (policy === 'cispo' && !relative && !fields.has('cispoMax')) {
    throw fields.error(
      `${fields.name}policy 'cispo' needs ${fields.name}cispoMax (absolute cap) or ${fields.name}cispoRelative: true`,
    );
  }
  if (aggregation === 'constant' && !fields.has('horizon')) {
    throw fields.error(
      `${fields.name}aggregation 'constant' needs ${fields.name}horizon, the tokens a row is divided by`,
    );
  }
}

function resolveCorrection(fields: OptionFields) {
  const given = fields.has('correction') ? fields.raw('correction') : undefined;
  const off = { correction: 'none', correctionLevel: 'token', correctionLow: 0, correctionHigh: 2 } as const;
  if (given === undefined) return off;
  const correction = new OptionFields(fields.operation, `${fields.name}correction.`, given, CORRECTION_KEYS);
  if (!correction.has('kind')) throw fields.error(`${correction.name}kind is needed: 'truncate' or 'mask'`);
  const kind = correction.choice('kind', ['truncate', 'mask'], 'truncate');
  correction.onlyWhen(kind === 'mask', ['low'], "kind 'mask'");
  const low = correction.number('low', off.correctionLow, FINITE_NOT_NEGATIVE);
  const high = correction.number('high', off.correctionHigh, POSITIVE);
  if (low > high)
    throw fields.error(`${correction.name}low (${low}) must not be above ${correction.name}high (${high})`);
  return {
    correction: kind,
    correctionLevel: correction.choice('level', ['token', 'sequence', 'geometric'], off.correctionLevel),
    correctionLow: low,
    correctionHigh: high,
  };
}

/**
 * Checks loss options and fills in the defaults of docs/losses.md.
 *
 * @param operation the public call, for messages
 * @throws GrpoError INVALID_ARGUMENT for an unknown key, a value out of range, a key that does not apply or one that is needed.
 *
 * @example
 * resolveLoss({ policy: 'cispo', cispoMax: 5 }, 'update');
 */
export function resolveLoss(loss: LossOptions | undefined, operation: string): NativeLoss {
  const fields = new OptionFields(operation, 'loss.', loss, LOSS_KEYS);
  const policy = fields.choice('policy', ['clip', 'cispo', 'sapo'], 'clip');
  const aggregations = ['token-mean', 'sequence-mean', 'sequence-sum-mean', 'constant'] as const;
  const aggregation = fields.choice('aggregation', aggregations, 'token-mean');
  checkApplicable(fields, policy, aggregation);
  return {
    policy,
    ratio: fields.choice('ratio', ['token', 'sequence'], 'token'),
    aggregation,
    clipLow: fields.number('clipLow', 0.2, { min: 0 }),
    clipHigh: fields.number('clipHigh', 0.28, { min: 0 }),
    clipRatioMax: fields.number('clipRatioMax', Infinity, POSITIVE),
    cispoMax: fields.number('cispoMax', Infinity, POSITIVE),
    cispoRelative: fields.boolean('cispoRelative', false),
    sapoTemperaturePositive: fields.number('sapoTemperaturePositive', 1, { above: 0, max: Number.MAX_VALUE }),
    sapoTemperatureNegative: fields.number('sapoTemperatureNegative', 1.05, { above: 0, max: Number.MAX_VALUE }),
    kl: fields.choice('kl', ['k2', 'k3'], 'k3'),
    klCoefficient: fields.number('klCoefficient', 0, FINITE_NOT_NEGATIVE),
    klImportanceCorrected: fields.boolean('klImportanceCorrected', false),
    entropyCoefficient: fields.number('entropyCoefficient', 0, FINITE_NOT_NEGATIVE),
    ...resolveCorrection(fields),
    horizon: fields.number('horizon', 1, { above: 0, max: Number.MAX_VALUE }),
  };
}
