import { closest, distance } from 'fastest-levenshtein';
import { GrpoError } from './errors.js';

/**
 * The nearest of the known names, undefined when none is near. Case does not count, and the last part of a dotted name
 * stands for it.
 *
 * @example
 * nearestName('groupsize', ['groupSize', 'steps']); // 'groupSize'
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const lower = name.toLowerCase();
  const best = closest(
    lower,
    known.map((entry) => entry.toLowerCase()),
  );
  const tail = known.find((entry) => entry.split('.').pop()?.toLowerCase() === lower);
  if (tail) return tail;
  const isNear = distance(lower, best) <= Math.max(2, Math.floor(name.length / 2));
  return isNear ? known.find((entry) => entry.toLowerCase() === best) : undefined;
}

/** What to say about an unknown name: the nearest known one, or all of them. */
export function suggest(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`;
}

/**
 * Refuses keys that mean nothing.
 *
 * @throws INVALID_ARGUMENT that names the unknown key and the nearest known one
 */
export function checkKeys(operation: string, value: object, known: readonly string[]): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    throw new GrpoError('INVALID_ARGUMENT', operation, `unknown key "${key}"; ${suggest(key, known)}`);
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
