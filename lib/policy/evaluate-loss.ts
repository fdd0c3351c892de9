import type { NativeLossBatch } from '../addon-types.js';
import { loadCoreSync } from '../binding.js';
import { GrpoError } from '../errors.js';
import { copyFinite, copyMask, requireArray } from './arrays.js';
import { resolveLoss } from './loss.js';
import { fromNative } from './native-call.js';
import { OptionFields } from './option-fields.js';
import type { LossOptions, NumberArray } from './types.js';

const OPERATION = 'evaluateLoss';

/** Rows of given numbers; every per-token array has T - 1 entries, nats where a log-prob. */
export interface LossBatch {
  logprobs: NumberArray[];
  /** Without it the ratio is 1, with its gradient. */
  oldLogprobs?: NumberArray[];
  /** Needed when klCoefficient is not 0. */
  referenceLogprobs?: NumberArray[];
  /** 1 = counts. */
  mask: NumberArray[];
  /** One number a row, or one a token. */
  advantages: (number | NumberArray)[];
  /** Needed by correction; NaN where nothing was sampled. */
  samplerLogprobs?: NumberArray[];
  /** Needed when entropyCoefficient is not 0. */
  entropies?: NumberArray[];
}

/** What the loss is, and its derivative. */
export interface LossEvaluation {
  loss: number;
  /** Mean over mask-1 tokens; null when klCoefficient is 0. */
  kl: number | null;
  clipFraction: number;
  /** gradient[i][t] = d loss / d logprobs[i][t], 0 where masked. */
  gradient: Float64Array[];
}

const BATCH_KEYS: readonly (keyof LossBatch)[] = [
  'logprobs',
  'oldLogprobs',
  'referenceLogprobs',
  'mask',
  'advantages',
  'samplerLogprobs',
  'entropies',
];

const invalid = (message: string) => new GrpoError('INVALID_ARGUMENT', OPERATION, message);

function requireRows(value: unknown, name: string, rows: number): unknown[] {
  if (!Array.isArray(value) || value.length !== rows) {
    const found = Array.isArray(value) ? String(value.length) : typeof value;
    throw invalid(`${name} must have ${rows} entries, one per row, but got ${found}`);
  }
  return value as unknown[];
}

function pack(batch: LossBatch): NativeLossBatch {
  new OptionFields(OPERATION, '', batch, BATCH_KEYS);
  if (!Array.isArray(batch?.logprobs)) throw invalid('logprobs must be a list of rows');
  const rows = batch.logprobs.length;
  const offsets = new Uint32Array(rows + 1);
  batch.logprobs.forEach((row, b) => {
    offsets[b + 1] = (offsets[b] as number) + requireArray(row, OPERATION, `logprobs[${b}]`).length;
  });
  const total = offsets[rows] as number;
  const mask = new Uint8Array(total);
  requireRows(batch.mask, 'mask', rows).forEach((row, b) => {
    const length = batch.logprobs[b]?.length ?? 0;
    const name = `mask[${b}]`;
    copyMask(requireArray(row, OPERATION, name, length), OPERATION, name, mask, offsets[b] as number);
  });
  const column = (value: unknown, name: string, mayBeNaN = false): Float64Array => {
    const out = new Float64Array(total);
    requireRows(value, name, rows).forEach((row, b) => {
      const start = offsets[b] as number;
      const length = (offsets[b + 1] as number) - start;
      if (name === 'advantages' && typeof row === 'number') {
        if (!Number.isFinite(row)) throw invalid(`advantages[${b}] must be finite, got ${row}`);
        out.fill(row, start, start + length);
        return;
      }
      const array = requireArray(row, OPERATION, `${name}[${b}]`, length);
      const counts = (t: number) => !mayBeNaN && mask[start + t] === 1;
      copyFinite(array, OPERATION, `${name}[${b}]`, out, start, counts);
    });
    return out;
  };
  const optional = (value: unknown, name: string, mayBeNaN = false) =>
    value === undefined ? undefined : column(value, name, mayBeNaN);
  return {
    offsets,
    logprobs: column(batch.logprobs, 'logprobs'),
    oldLogprobs: optional(batch.oldLogprobs, 'oldLogprobs'),
    referenceLogprobs: optional(batch.referenceLogprobs, 'referenceLogprobs'),
    samplerLogprobs: optional(batch.samplerLogprobs, 'samplerLogprobs', true),
    entropies: optional(batch.entropies, 'entropies'),
    mask,
    advantages: column(batch.advantages, 'advantages'),
  };
}

/**
 * The policy loss and its derivative on given numbers, in float64: the code that `update` uses.
 *
 * @throws GrpoError INVALID_ARGUMENT for arrays that do not fit each other or options that do not apply
 * @example
 * evaluateLoss({ logprobs: [[-1, -2]], oldLogprobs: [[-1, -2]], mask: [[1, 1]], advantages: [1] }, { clipHigh: 0.2 });
 */
export function evaluateLoss(batch: LossBatch, loss?: LossOptions): LossEvaluation {
  const resolved = resolveLoss(loss, OPERATION);
  const packed = pack(batch);
  const needs = (wanted: boolean, value: unknown, name: string, option: string) => {
    if (wanted && value === undefined) throw invalid(`${name} is needed by loss.${option}`);
  };
  needs(resolved.klCoefficient !== 0, packed.referenceLogprobs, 'referenceLogprobs', 'klCoefficient');
  needs(resolved.entropyCoefficient !== 0, packed.entropies, 'entropies', 'entropyCoefficient');
  needs(resolved.correction !== 'none', packed.samplerLogprobs, 'samplerLogprobs', 'correction');
  try {
    const result = loadCoreSync().evaluateLoss(packed, resolved);
    const gradient = batch.logprobs.map((_, b) => result.gradient.slice(packed.offsets[b], packed.offsets[b + 1]));
    return { loss: result.loss, kl: result.kl, clipFraction: result.clipFraction, gradient };
  } catch (error) {
    throw fromNative(error);
  }
}
