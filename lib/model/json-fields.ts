import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { GrpoError, type ErrorCode } from '../errors.js';

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80));

/** Whether a parsed JSON value is an object, not null and not an array. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface NumberField {
  /** Used when the field is absent or null; without it the field is needed. */
  fallback?: number;
  /** Smallest value allowed. */
  min?: number;
}

/** Typed reading of one JSON file; every fault names the file and the field. */
export class JsonFields {
  constructor(
    readonly file: string,
    private readonly values: Record<string, unknown>,
    private readonly code: ErrorCode,
    private readonly prefix = '',
  ) {}

  /**
   * Reads a JSON file whose top is an object.
   *
   * @throws GrpoError with `code` when the file is missing, cut or not an object.
   */
  static async read(path: string, code: ErrorCode): Promise<JsonFields> {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (cause) {
      throw new GrpoError(code, 'load', `${path} cannot be read; the folder needs ${basename(path)}`, { cause });
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new GrpoError(code, 'load', `${path} is not valid JSON (${(cause as Error).message}); fetch it again`, {
        cause,
      });
    }
    if (!isJsonObject(value)) throw new GrpoError(code, 'load', `${path} must hold a JSON object, got ${show(value)}`);
    return new JsonFields(path, value, code);
  }

  /** Names of the fields, in file order. */
  names(): string[] {
    return Object.keys(this.values);
  }

  /** The field as it is; undefined when absent. */
  raw(name: string): unknown {
    return Object.hasOwn(this.values, name) ? this.values[name] : undefined;
  }

  /** Whether the field is there and not null. */
  has(name: string): boolean {
    return this.raw(name) !== undefined && this.raw(name) !== null;
  }

  integer(name: string, { fallback, min = 1 }: NumberField = {}): number {
    const value = this.has(name) ? this.raw(name) : fallback;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
    throw this.fault(name, `must be a whole number >= ${min}`);
  }

  /** A finite number above `min`. */
  number(name: string, { fallback, min = 0 }: NumberField = {}): number {
    const value = this.has(name) ? this.raw(name) : fallback;
    if (typeof value === 'number' && Number.isFinite(value) && value > min) return value;
    throw this.fault(name, `must be a number > ${min}`);
  }

  /** A number in [0, 1). */
  fraction(name: string, fallback: number): number {
    const value = this.has(name) ? this.raw(name) : fallback;
    if (typeof value === 'number' && value >= 0 && value < 1) return value;
    throw this.fault(name, 'must be a number in [0, 1)');
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.has(name) ? this.raw(name) : fallback;
    if (typeof value === 'boolean') return value;
    throw this.fault(name, 'must be true or false');
  }

  string(name: string, fallback?: string): string {
    const value = this.has(name) ? this.raw(name) : fallback;
    if (typeof value === 'string') return value;
    throw this.fault(name, 'must be a string');
  }

  /** A whole number, a list of them, or nothing. */
  ids(name: string): number[] {
    if (!this.has(name)) return [];
    const value = this.raw(name);
    const list: unknown[] = Array.isArray(value) ? value : [value];
    if (list.every((id): id is number => typeof id === 'number' && Number.isSafeInteger(id) && id >= 0)) return list;
    throw this.fault(name, 'must be a token id or a list of them');
  }

  /** A list of strings; undefined when absent or null. */
  strings(name: string): string[] | undefined {
    if (!this.has(name)) return undefined;
    const value = this.raw(name);
    if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value;
    throw this.fault(name, 'must be a list of strings');
  }

  /** A nested object; undefined when absent or null. */
  object(name: string): JsonFields | undefined {
    if (!this.has(name)) return undefined;
    const value = this.raw(name);
    if (!isJsonObject(value)) throw this.fault(name, 'must be an object');
    return new JsonFields(this.file, value, this.code, `${this.prefix}${name}.`);
  }

  /** The error for a field: which file, which field, what is wanted, what is there. */
  fault(name: string, wanted: string): GrpoError {
    const message = `${this.file}: field "${this.prefix}${name}" ${wanted}, got ${show(this.raw(name))}`;
    return new GrpoError(this.code, 'load', message);
  }
}
