import { nearestName } from '../lib/known-keys.js';
import { UsageError } from './usage-error.js';

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Options of the command at hand, as yargs hands them to a check. */
interface KnownOptions {
  key: Record<string, unknown>;
  alias: Record<string, string[]>;
}

/**
 * Refuses options that the command does not have, naming the nearest.
 *
 * @throws {UsageError}
 */
export function checkOptions(typed: readonly string[], options: KnownOptions): true {
  const known = [...Object.keys(options.key), ...Object.values(options.alias).flat()];
  const names = new Set(known.map(kebab));
  const end = typed.indexOf('--');
  for (const word of end < 0 ? typed : typed.slice(0, end)) {
    const name = /^--([^=]+)/.exec(word)?.[1] ?? /^-([a-zA-Z])/.exec(word)?.[1];
    if (name === undefined) continue;
    const plain = kebab(name);
    if (names.has(plain) || names.has(plain.replace(/^no-/, ''))) continue;
    const nearest = nearestName(plain, [...names]);
    throw new UsageError(`unknown option --${name}${nearest ? `; did you mean --${nearest}?` : ''}`);
  }
  return true;
}

/**
 * Refuses a first word that is no command, naming the nearest.
 *
 * @throws {UsageError}
 */
export function checkCommand(typed: readonly string[], commands: string[]): void {
  const first = typed[0];
  if (first === undefined || first.startsWith('-') || commands.includes(first)) return;
  const nearest = nearestName(first, commands);
  throw new UsageError(`unknown command ${first}${nearest ? `; did you mean ${nearest}?` : ''}`);
}
