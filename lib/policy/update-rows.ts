import type { NativeUpdateRows } from '../addon-types.js';
import { GrpoError } from '../errors.js';
import { suggest } from '../known-keys.js';
import { copyFinite, copyMask, requireArray, toIds } from './arrays.js';
import type { UpdateRow } from './types.js';

const ROW_KEYS: readonly string[] = ['ids', 'mask', 'advantage', 'temperature', 'oldLogprobs', 'samplerLogprobs'];
const OPERATION = 'update';

const invalid = (message: string) => new GrpoError('INVALID_ARGUMENT', OPERATION, message);

function checkTemperature(value: number | undefined, name: string): number {
  if (value === undefined) return 1;
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return value;
  throw invalid(`${name}.temperature must be a number > 0, got ${String(value)}`);
}

/**
 * Lays the rows of an update end to end, checking every array against its row.
 *
 * @throws GrpoError INVALID_ARGUMENT naming the row, the array and what is wrong
 */
export function packUpdateRows(rows: readonly UpdateRow[], needsSampler: boolean): NativeUpdateRows {
  const given: unknown = rows;
  if (!Array.isArray(given) || given.length === 0) throw invalid('rows must be a list with at least one row');
  const ids = rows.map((row, b) => {
    for (const key of Object.keys(row)) {
      if (!ROW_KEYS.includes(key)) throw invalid(`rows[${b}] has an unknown key "${key}"; ${suggest(key, ROW_KEYS)}`);
    }
    const rowIds = toIds(row.ids, OPERATION, `rows[${b}].ids`);
    if (rowIds.length === 0) throw invalid(`rows[${b}].ids must have at least 1 token, but has 0`);
    return rowIds;
  });
  const total = ids.reduce((sum, row) => sum + row.length, 0);
  const packed: NativeUpdateRows = {
    ids: new Int32Array(total),
    offsets: new Uint32Array(rows.length + 1),
    mask: new Uint8Array(total),
    advantages: new Float64Array(total),
    temperatures: new Float64Array(rows.length),
    oldLogprobs: new Float64Array(total),
    hasOld: new Uint8Array(rows.length),
    samplerLogprobs: new Float64Array(total),
    hasSampler: new Uint8Array(rows.length),
  };
  let at = 0;
  rows.forEach((row, b) => {
    const rowIds = ids[b] as Int32Array;
    const length = rowIds.length;
    const name = `rows[${b}]`;
    packed.ids.set(rowIds, at);
    packed.offsets[b + 1] = at + length;
    const start = at;
    copyMask(requireArray(row.mask, OPERATION, `${name}.mask`, length), OPERATION, `${name}.mask`, packed.mask, at);
    // Entry 0 has nothing before it that could predict it.
    packed.mask[at] = 0;
    const counts = (t: number) => packed.mask[start + t] === 1;
    if (typeof row.advantage === 'number') {
      if (!Number.isFinite(row.advantage)) throw invalid(`${name}.advantage must be finite, got ${row.advantage}`);
      packed.advantages.fill(row.advantage, at, at + length);
    } else {
      const advantages = requireArray(row.advantage, OPERATION, `${name}.advantage`, length);
      copyFinite(advantages, OPERATION, `${name}.advantage`, packed.advantages, at, counts);
    }
    packed.temperatures[b] = checkTemperature(row.temperature, name);
    if (row.oldLogprobs !== undefined) {
      const old = requireArray(row.oldLogprobs, OPERATION, `${name}.oldLogprobs`, length - 1, 'token after the first');
      copyFinite(old, OPERATION, `${name}.oldLogprobs`, packed.oldLogprobs, at + 1, (t) => counts(t + 1));
      packed.hasOld[b] = 1;
    }
    if (row.samplerLogprobs !== undefined) {
      const label = `${name}.samplerLogprobs`;
      const sampler = requireArray(row.samplerLogprobs, OPERATION, label, length - 1, 'token after the first');
      for (let t = 0; t < sampler.length; t++) packed.samplerLogprobs[at + 1 + t] = Number(sampler[t]);
      packed.hasSampler[b] = 1;
    } else if (needsSampler) {
      throw invalid(`${name}.samplerLogprobs is needed by loss.correction`);
    }
    at += length;
  });
  return packed;
}
