import { GrpoError } from '../errors.js';
import { configKeys } from './keys.js';
import type { ConfigKey } from './keys.js';
import type { ConfigSchema } from './schema.js';

function describe(key: ConfigKey): string {
  const choices = key.choices && `one of ${key.choices.join(', ')}`;
  const notes = [choices, key.unit, key.range, key.defaultText ? `default ${key.defaultText}` : undefined].filter(
    Boolean,
  );
  return notes.length > 0 ? `${key.description} [${notes.join('; ')}]` : key.description;
}

/** An option as yargs takes it; its own type would make every user's compiler ask for @types/yargs. */
interface FlagOption {
  type: 'boolean' | 'string';
  description: string;
  requiresArg: boolean;
}

/** Command-line options of a schema; without defaults, so that only what was typed overrides a file. */
export function flagOptions(schema: ConfigSchema): Record<string, FlagOption> {
  return Object.fromEntries(
    configKeys(schema).map((key): [string, FlagOption] => [
      key.flag,
      {
        type: key.type === 'boolean' ? 'boolean' : 'string',
        description: describe(key),
        requiresArg: key.type !== 'boolean',
      },
    ]),
  );
}

function readValue(key: ConfigKey, raw: unknown): unknown {
  if (Array.isArray(raw)) {
    if (key.type !== 'list') throw new GrpoError('INVALID_CONFIG', 'config', `--${key.flag} was given more than once`);
    return (raw as unknown[]).flatMap((entry) => String(entry).split(','));
  }
  if (key.type === 'boolean') return raw;
  const text = String(raw);
  const number = (entry: string) => {
    const value = Number(entry);
    if (entry.trim() === '' || Number.isNaN(value)) {
      throw new GrpoError('INVALID_CONFIG', 'config', `--${key.flag} must be a number, but got "${entry}"`);
    }
    return value;
  };
  if (key.type === 'integer' || key.type === 'number') return number(text);
  if (key.type === 'numbers') return text.split(',').map(number);
  return key.type === 'list' ? text.split(',') : text;
}

/**
 * What was typed, as a nested configuration object.
 *
 * @throws {GrpoError} INVALID_CONFIG where a number is not one
 */
export function readFlags(schema: ConfigSchema, argv: Record<string, unknown>): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const key of configKeys(schema)) {
    const raw = argv[key.flag];
    if (raw === undefined) continue;
    const names = key.path.split('.');
    const leaf = names.pop() as string;
    let node = root;
    for (const name of names) node = (node[name] ??= {}) as Record<string, unknown>;
    node[leaf] = readValue(key, raw);
  }
  return root;
}
