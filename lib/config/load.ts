import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { GrpoError } from '../errors.js';
import { importFailure } from '../import-failure.js';

const MODULES = ['.js', '.mjs', '.cjs', '.ts', '.mts'];

function asObject(value: unknown, path: string): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new GrpoError('INVALID_CONFIG', 'config', `${path} must hold one object of keys and values`);
  }
  return { ...value };
}

const reason = (error: unknown) => (error instanceof Error ? error.message.split('\n')[0] : String(error));

/**
 * Reads a configuration file: `.json`, `.yaml`/`.yml`, or a module whose default export is the configuration.
 *
 * @throws {GrpoError} INVALID_CONFIG when the file is missing, cannot be parsed, or is of another kind
 */
export async function loadConfigFile(path: string): Promise<Record<string, unknown>> {
  const extension = extname(path).toLowerCase();
  if (MODULES.includes(extension)) {
    const loaded = (await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
      const message = `${path} cannot be imported: ${importFailure(error)}`;
      throw new GrpoError('INVALID_CONFIG', 'config', message, { cause: error });
    })) as { default?: unknown };
    if (loaded.default === undefined) {
      throw new GrpoError(
        'INVALID_CONFIG',
        'config',
        `${path} has no default export; export the configuration as default`,
      );
    }
    return asObject(loaded.default, path);
  }
  if (!['.json', '.yaml', '.yml'].includes(extension)) {
    throw new GrpoError('INVALID_CONFIG', 'config', `${path} must end in .json, .yaml, .yml, .js, .mjs or .ts`);
  }
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new GrpoError('INVALID_CONFIG', 'config', `${path} cannot be read: ${reason(error)}`, { cause: error });
  });
  try {
    return asObject(extension === '.json' ? (JSON.parse(text) as unknown) : parseYaml(text), path);
  } catch (error) {
    if (error instanceof GrpoError) throw error;
    throw new GrpoError('INVALID_CONFIG', 'config', `${path} cannot be parsed: ${reason(error)}`, { cause: error });
  }
}
