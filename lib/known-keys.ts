import { closest, distance } from 'fastest-levenshtein';
import { GrpoError } from './errors.js';

/**
 * Refuses keys that mean nothing.
 *
 * @throws INVALID_ARGUMENT that names the unknown key and the nearest known one
 */
export function checkKeys(operation: string, value: object, known: readonly string[]): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const nearest = closest(key, [...known]);
    const hint = distance(key, nearest) <= 3 ? `: did you mean '${nearest}'?` : `: the keys are ${known.join(', ')}`;
    throw new GrpoError('INVALID_ARGUMENT', operation, `unknown key '${key}'${hint}`);
  }
}

/**
 * Refuses a value that does not hold.
 *
 * @throws INVALID_ARGUMENT
 */
export function ensure(operation: string, holds: boolean, message: string): void {
  if (!holds) throw new GrpoError('INVALID_ARGUMENT', operation, message);
}
