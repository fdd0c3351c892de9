import { GrpoError } from '../errors.js';
import type { NumberArray } from './types.js';

const invalid = (operation: string, message: string) => new GrpoError('INVALID_ARGUMENT', operation, message);

function isNumberArray(value: unknown): value is NumberArray {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/**
 * Checks an array of numbers and its length.
 *
 * @throws GrpoError INVALID_ARGUMENT naming the array, expected and found length
 */
export function requireArray(
  value: unknown,
  operation: string,
  name: string,
  length?: number,
  per = 'token',
): NumberArray {
  if (!isNumberArray(value)) throw invalid(operation, `${name} must be an array of numbers, got ${typeof value}`);
  if (length !== undefined && value.length !== length) {
    throw invalid(operation, `${name} must have ${length} entries, one per ${per}, but got ${value.length}`);
  }
  return value;
}

/**
 * Copies token ids.
 *
 * @throws GrpoError INVALID_ARGUMENT for anything but non-negative whole numbers
 */
export function toIds(value: unknown, operation: string, name: string): Int32Array {
  const array = requireArray(value, operation, name);
  const ids = new Int32Array(array.length);
  for (let i = 0; i < array.length; i++) {
    const id = array[i];
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > 0x7fffffff) {
      throw invalid(operation, `${name}[${i}] must be a token id, got ${String(id)}`);
    }
    ids[i] = id;
  }
  return ids;
}

/**
 * Copies a mask into `out` at an offset.
 *
 * @throws GrpoError INVALID_ARGUMENT for anything but 0 and 1
 */
export function copyMask(value: NumberArray, operation: string, name: string, out: Uint8Array, at: number): void {
  for (let t = 0; t < value.length; t++) {
    const entry = Number(value[t]);
    if (entry !== 0 && entry !== 1) throw invalid(operation, `${name}[${t}] must be 0 or 1, got ${String(value[t])}`);
    out[at + t] = entry;
  }
}

/**
 * Copies numbers that must be finite where the mask is 1; elsewhere they are never read.
 *
 * @throws GrpoError INVALID_ARGUMENT naming the entry
 */
export function copyFinite(
  value: NumberArray,
  operation: string,
  name: string,
  out: Float64Array,
  at: number,
  counts: (t: number) => boolean,
): void {
  for (let t = 0; t < value.length; t++) {
    const entry = Number(value[t]);
    if (counts(t) && !Number.isFinite(entry)) {
      throw invalid(operation, `${name}[${t}] must be finite where the mask is 1, got ${String(value[t])}`);
    }
    out[at + t] = entry;
  }
}
