import type { z } from 'zod';
import { nearestName } from '../known-keys.js';
import { configKeys } from './keys.js';
import type { ConfigKey } from './keys.js';
import type { ConfigSchema } from './schema.js';

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** What a value of a key has to be, after `must be`. */
function expected({ type, choices, range, wording }: ConfigKey): string {
  if (wording !== undefined) return wording;
  const bounds = range ? ` ${range.replace(', ', ' and ')}` : '';
  switch (type) {
    case 'integer':
      return `a whole number${bounds}`;
    case 'number':
      return `a number${bounds}`;
    case 'numbers':
      return 'a list of numbers';
    case 'boolean':
      return 'true or false';
    case 'list':
      return choices ? `a list of one or more of ${choices.join(', ')}` : 'a list of one or more names';
    case 'string':
      return choices ? listed(choices) : 'a text that is not empty';
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** The choice that was probably meant, by the first given word that is none. */
function hint({ choices }: ConfigKey, value: unknown): string {
  const wrong = [value].flat().find((entry) => typeof entry === 'string' && !choices?.includes(entry));
  const nearest = choices && typeof wrong === 'string' ? nearestName(wrong, choices) : undefined;
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/**
 * What is wrong with a configuration, in this project's words: the key, what it must be, what was given, the nearest choice.
 *
 * @example
 * // 'groupSize must be a whole number >= 2, but got 1'
 */
export function describeIssues(issues: readonly z.core.$ZodIssue[], given: unknown, schema: ConfigSchema): string {
  const keys = configKeys(schema);
  const at = (path: string) =>
    path.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], given);
  const lines = issues.map(({ path }) => {
    const whole = path.map(String).join('.');
    // An issue may lie inside the value of a key: in an entry of a list.
    const key = keys.find((entry) => whole === entry.path || whole.startsWith(`${entry.path}.`));
    if (key === undefined) return `${whole} must be an object of keys and values, but got ${shown(at(whole))}`;
    const value = at(key.path);
    return `${key.path} must be ${expected(key)}, but got ${shown(value)}${hint(key, value)}`;
  });
  return [...new Set(lines)].join('; ');
}
