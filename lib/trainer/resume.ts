import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { TrainConfig } from '../config/index.js';
import { BUILT_IN_ENVIRONMENTS } from '../environments/built-in.js';
import { GrpoError } from '../errors.js';

type Tree = Record<string, unknown>;

/** How a process runs, and nothing of what it computes: these may differ without a word. */
const FREE = ['resume', 'override', 'quiet', 'json', 'maxHours', 'loggers'];
const PATHS = ['model', 'adapter', 'tasks', 'evalTasks', 'environment', 'data', 'validation'];
const GROUPS = ['lora', 'loss', 'advantage', 'optimizer', 'alarms', 'loss.correction'];

/** The configuration of a run that goes on. */
export interface ResumedConfig<Config = TrainConfig> {
  /** The run's folder. */
  folder: string;
  config: Config;
  /** Keys that --override changed. */
  changed: string[];
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects given in code are known by their name. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return isTree(value) && typeof value['name'] === 'string' ? value['name'] : value;
}

async function readStored(folder: string): Promise<{ config: Tree; workingFolder: string }> {
  const path = join(folder, 'config.json');
  try {
    const { config, workingFolder } = JSON.parse(await readFile(path, 'utf8')) as Tree;
    if (!isTree(config)) throw new Error('it has no config');
    return { config, workingFolder: typeof workingFolder === 'string' ? workingFolder : process.cwd() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${folder} holds no run that can go on: ${path} cannot be read: ${reason}`;
    throw new GrpoError('RUN_INVALID', 'resume', message, { cause: error });
  }
}

/** Names of things that come with the package, whatever a folder is called. */
const isBuiltIn = (key: string, value: string) =>
  key === 'environment' ? BUILT_IN_ENVIRONMENTS.includes(value) : key === 'model' && value.startsWith('embedded:');

/** Paths were given relative to where the run began. */
function absolutePaths(config: Tree, base: string): Tree {
  const found = Object.entries(config).map(([key, value]) => {
    if (!PATHS.includes(key) || typeof value !== 'string' || isAbsolute(value) || isBuiltIn(key, value)) {
      return [key, value];
    }
    const path = resolve(base, value);
    return [key, existsSync(path) ? path : value];
  });
  return Object.fromEntries(found) as Tree;
}

/** Leaves of `given` that are not what the run had. */
function differences(given: Tree, stored: Tree, prefix = ''): string[] {
  return Object.entries(given).flatMap(([key, value]) => {
    const path = prefix + key;
    if (value === undefined || FREE.includes(path)) return [];
    const before = stored[key];
    if (GROUPS.includes(path) && isTree(value)) return differences(value, isTree(before) ? before : {}, `${path}.`);
    return isDeepStrictEqual(plain(value), plain(before)) ? [] : [path];
  });
}

const at = (tree: Tree, path: string) =>
  JSON.stringify(plain(path.split('.').reduce<unknown>((node, key) => (isTree(node) ? node[key] : undefined), tree))) ??
  'not set';

/**
 * Reads the configuration of a run and compares what was given with it.
 *
 * @throws {GrpoError} RUN_INVALID where there is no run, INVALID_CONFIG for a changed option without `override`
 */
export async function resumedConfig<Config>(
  input: Tree & { resume?: string; override?: boolean },
  restore: (stored: Tree, given: Tree) => Config,
): Promise<ResumedConfig<Config>> {
  const folder = resolve(String(input.resume));
  const { config, workingFolder } = await readStored(folder);
  const given = absolutePaths(input, process.cwd());
  const stored = absolutePaths({ ...config, output: folder }, workingFolder);
  if (typeof given['output'] === 'string') given['output'] = resolve(given['output']);
  const changed = differences(given, stored);
  if (changed.includes('output')) {
    const message = `output does not apply with resume: the run goes on in ${folder}`;
    throw new GrpoError('INVALID_CONFIG', 'resume', message);
  }
  if (changed.length > 0 && input.override !== true) {
    const told = changed.map((path) => `${path} is ${at(given, path)}, in the run ${at(stored, path)}`).join('; ');
    throw new GrpoError('INVALID_CONFIG', 'resume', `${told}; leave it out, or change it with --override`);
  }
  const { environment } = stored;
  const isNamed = typeof environment === 'string' && !isBuiltIn('environment', environment) && !isAbsolute(environment);
  if (isNamed && given['environment'] === undefined) {
    const message = `environment ${environment} was given as an object; pass it to train() again with resume`;
    throw new GrpoError('INVALID_CONFIG', 'resume', message);
  }
  for (const key of ['resume', 'override', 'maxHours', 'quiet', 'json']) delete stored[key];
  return { folder, config: restore(stored, given), changed };
}
