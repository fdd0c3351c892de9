import { GrpoError } from '../errors.js';
import { suggest } from '../known-keys.js';

type Range = { min?: number; max?: number; above?: number; below?: number; integer?: boolean };

const show = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'function' ? String(value) : (JSON.stringify(value) ?? String(value));

const rangeText = ({ min, max, above, below, integer }: Range): string => {
  const bounds = [
    min === undefined ? '' : `>= ${min}`,
    above === undefined ? '' : `> ${above}`,
    max === undefined ? '' : `<= ${max}`,
    below === undefined ? '' : `< ${below}`,
  ].filter(Boolean);
  return `${integer ? 'a whole number' : 'a number'}${bounds.length > 0 ? ` ${bounds.join(' and ')}` : ''}`;
};

/**
 * Typed, checked reading of one options object. A key that is undefined or null counts as not given.
 *
 * Every method throws GrpoError INVALID_ARGUMENT, naming the key, what is allowed and what was found.
 */
export class OptionFields {
  private readonly given: Record<string, unknown>;

  /** @param name prefix of the keys in messages, e.g. `loss.` */
  constructor(
    readonly operation: string,
    readonly name: string,
    options: unknown,
    private readonly known: readonly string[],
  ) {
    if (options !== undefined && (typeof options !== 'object' || options === null || Array.isArray(options))) {
      throw this.error(`${name.replace(/\.$/, '') || 'options'} must be an object, got ${show(options)}`);
    }
    this.given = (options ?? {}) as Record<string, unknown>;
    for (const key of Object.keys(this.given)) {
      if (!known.includes(key)) throw this.error(`unknown option "${name}${key}"; ${suggest(key, known)}`);
    }
  }

  error(message: string): GrpoError {
    return new GrpoError('INVALID_ARGUMENT', this.operation, message);
  }

  raw(key: string): unknown {
    return this.given[key];
  }

  has(key: string): boolean {
    return this.given[key] !== undefined && this.given[key] !== null;
  }

  /** Names of the keys that were given. */
  keys(): string[] {
    return this.known.filter((key) => this.has(key));
  }

  /** Infinity is allowed where no upper bound and no whole number is asked for. */
  number(key: string, fallback: number, range: Range = {}): number {
    if (!this.has(key)) return fallback;
    const value = this.given[key];
    const { min = -Infinity, max = Infinity, above = -Infinity, below = Infinity, integer = false } = range;
    const inRange =
      typeof value === 'number' &&
      value >= min &&
      value <= max &&
      (value > above || above === -Infinity) &&
      (value < below || below === Infinity) &&
      (!integer || Number.isSafeInteger(value));
    if (!inRange) throw this.error(`${this.name}${key} must be ${rangeText(range)}, got ${show(value)}`);
    return value;
  }

  choice<const T extends string>(key: string, choices: readonly T[], fallback: T): T {
    if (!this.has(key)) return fallback;
    const value = this.given[key] as T;
    if (!choices.includes(value)) {
      const list = choices.map((choice) => `"${choice}"`).join(', ');
      throw this.error(`${this.name}${key} must be one of ${list}, got ${show(value)}`);
    }
    return value;
  }

  boolean(key: string, fallback: boolean): boolean {
    if (!this.has(key)) return fallback;
    const value = this.given[key];
    if (typeof value !== 'boolean') throw this.error(`${this.name}${key} must be true or false, got ${show(value)}`);
    return value;
  }

  /** A non-empty string; undefined when not given. */
  string(key: string): string | undefined {
    if (!this.has(key)) return undefined;
    const value = this.given[key];
    if (typeof value === 'string' && value.length > 0) return value;
    throw this.error(`${this.name}${key} must be a non-empty string, got ${show(value)}`);
  }

  /** Refuses keys that would do nothing, saying what they need. */
  onlyWhen(applies: boolean, keys: readonly string[], needs: string): void {
    const idle = applies ? undefined : keys.find((key) => this.has(key));
    if (idle !== undefined) throw this.error(`${this.name}${idle} does not apply: it needs ${needs}`);
  }
}
