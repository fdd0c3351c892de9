import { GrpoError } from '../errors.js';
import type { JsonFields } from './json-fields.js';

/** Rotary position settings of a model, as transformers would resolve them. */
export interface RotarySettings {
  type: 'default' | 'linear' | 'llama3';
  theta: number;
  /** 1 for the default type. */
  factor: number;
  lowFreqFactor: number;
  highFreqFactor: number;
  originalMaxPositions: number;
}

const SUPPORTED = 'supported rotary types are default, linear and llama3';
const DEFAULT_THETA = 10_000;
const f32 = Math.fround;

const unsupported = (fields: JsonFields, what: string): GrpoError =>
  new GrpoError('UNSUPPORTED_MODEL', 'load', `${fields.file}: ${what} is not supported; ${SUPPORTED}`);

/**
 * Reads the rotary settings of transformers 4 (`rope_theta`, `rope_scaling`) and 5 (`rope_parameters`).
 *
 * Precedence is transformers': a non-empty `rope_scaling` replaces `rope_parameters`; a theta inside wins over one
 * outside; an outer `original_max_position_embeddings` wins over an inner one.
 *
 * @throws GrpoError UNSUPPORTED_MODEL for another rotary type, INVALID_MODEL for a bad field.
 */
export function readRotary(config: JsonFields, maxPositions: number): RotarySettings {
  const scaling = config.object('rope_scaling');
  const inner = scaling && scaling.names().length > 0 ? scaling : config.object('rope_parameters');
  const nested = inner?.names().find((name) => name.endsWith('_attention'));
  if (nested) throw unsupported(config, `rotary settings per layer type (rope_parameters.${nested})`);
  const partial = (inner?.has('partial_rotary_factor') ? inner : config).number('partial_rotary_factor', {
    fallback: 1,
  });
  if (partial !== 1) throw unsupported(config, `partial rotary embedding (partial_rotary_factor ${partial})`);

  const theta = inner?.has('rope_theta')
    ? inner.number('rope_theta')
    : config.number('rope_theta', { fallback: DEFAULT_THETA });
  const plain = { theta, factor: 1, lowFreqFactor: 1, highFreqFactor: 1, originalMaxPositions: maxPositions };
  if (!inner) return { type: 'default', ...plain };

  const type = inner.has('rope_type') ? inner.string('rope_type') : inner.string('type', 'default');
  if (type === 'default') return { type, ...plain };
  if (type === 'linear') return { type, ...plain, factor: inner.number('factor') };
  if (type !== 'llama3') throw unsupported(config, `rotary type "${type}"`);
  const holder = config.has('original_max_position_embeddings') ? config : inner;
  const lowFreqFactor = inner.number('low_freq_factor');
  return {
    type,
    theta,
    factor: inner.number('factor'),
    lowFreqFactor,
    highFreqFactor: inner.number('high_freq_factor', { min: lowFreqFactor }),
    originalMaxPositions: holder.integer('original_max_position_embeddings', { fallback: maxPositions }),
  };
}

/** One frequency of the Llama 3 scaling; every step rounds to float32 where transformers' tensors do. */
function scaleLlama3(frequency: number, rotary: RotarySettings): number {
  const { factor, lowFreqFactor, highFreqFactor, originalMaxPositions } = rotary;
  const wavelength = f32(f32(1 / frequency) * f32(2 * Math.PI));
  const low = f32(originalMaxPositions / lowFreqFactor);
  const high = f32(originalMaxPositions / highFreqFactor);
  if (wavelength < high) return frequency;
  const divided = f32(frequency / f32(factor));
  if (wavelength > low) return divided;
  const turns = f32(f32(1 / wavelength) * f32(originalMaxPositions));
  const smooth = f32(f32(turns - f32(lowFreqFactor)) / f32(highFreqFactor - lowFreqFactor));
  return f32(f32(f32(f32(1 - smooth) * frequency) / f32(factor)) + f32(smooth * frequency));
}

/**
 * Inverse frequencies in float32, scaling applied.
 *
 *   headDim  D, even
 *   returns  (D / 2) theta^(-2i / D), then divided or smoothed by the rotary type
 *
 * Source: transformers, `modeling_rope_utils.py`.
 */
export function inverseFrequencies(headDim: number, rotary: RotarySettings): Float32Array {
  return Float32Array.from({ length: headDim / 2 }, (_, i) => {
    const power = f32(Math.pow(f32(rotary.theta), f32((2 * i) / headDim)));
    const frequency = f32(1 / power);
    if (rotary.type === 'linear') return f32(frequency / f32(rotary.factor));
    return rotary.type === 'llama3' ? scaleLlama3(frequency, rotary) : frequency;
  });
}
