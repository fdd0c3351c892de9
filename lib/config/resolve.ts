import { GrpoError } from '../errors.js';
import { nearestName } from '../known-keys.js';
import { checkApplicable } from './applicable.js';
import { benchSchema } from './bench-schema.js';
import type { BenchConfig, BenchInput } from './bench-schema.js';
import { configKeys } from './keys.js';
import { describeIssues } from './issues.js';
import { PRESETS } from './presets.js';
import { evaluateSchema, generateSchema, trainSchema } from './schema.js';
import { sftSchema } from './sft-schema.js';
import type { SftConfig, SftInput } from './sft-schema.js';
import type {
  ConfigSchema,
  EvaluateConfig,
  EvaluateInput,
  GenerateConfig,
  GenerateInput,
  TrainConfig,
  TrainInput,
} from './schema.js';

type Tree = Record<string, unknown>;

const isPlain = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Later values win; the named plain objects are merged key by key, everything else is replaced whole. */
function mergeConfigs(nested: string[], ...layers: Tree[]): Tree {
  const merged: Tree = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer)) {
      if (value === undefined) continue;
      const before = merged[key];
      const mergeable = nested.includes(key) && isPlain(value) && isPlain(before);
      merged[key] = mergeable ? mergeConfigs(['correction'], before, value) : value;
    }
  }
  return merged;
}

function checkKnown(given: Tree, schema: ConfigSchema, operation: string): void {
  const leaves = configKeys(schema).map((key) => key.path);
  const groups = new Set(
    leaves.flatMap((path) => {
      const names = path.split('.');
      return names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join('.'));
    }),
  );
  const visit = (node: Tree, prefix: string) => {
    for (const [name, value] of Object.entries(node)) {
      const path = prefix + name;
      if (leaves.includes(path)) continue;
      if (groups.has(path)) {
        if (isPlain(value)) visit(value, `${path}.`);
        continue;
      }
      const nearest = nearestName(path, [...leaves, ...groups]);
      const hint = nearest ? `; did you mean ${nearest}?` : ': docs/configuration.md lists all keys';
      throw new GrpoError('INVALID_CONFIG', operation, `unknown key ${path}${hint}`);
    }
  };
  visit(given, '');
}

/** The demo has a model of its own. */
const withModel = (given: Tree): Tree =>
  given['environment'] === 'demo' && given['model'] === undefined ? { ...given, model: 'embedded:demo' } : given;

function parse<T>(asked: Tree, schema: ConfigSchema, operation: string): T {
  const given = withModel(asked);
  checkKnown(given, schema, operation);
  const result = schema.safeParse(given);
  if (!result.success) {
    throw new GrpoError('INVALID_CONFIG', operation, describeIssues(result.error.issues, given, schema));
  }
  checkApplicable(given, operation);
  return result.data as T;
}

const TRAIN_GROUPS = ['lora', 'loss', 'advantage', 'optimizer', 'alarms'];

/**
 * What a file and flags give together, still without defaults; the later one wins.
 *
 * @throws {GrpoError} INVALID_CONFIG on an unknown key
 */
export function mergeTrainInputs(...layers: Record<string, unknown>[]): TrainInput {
  for (const layer of layers) checkKnown(layer, trainSchema, 'config');
  return mergeConfigs(TRAIN_GROUPS, ...layers);
}

/**
 * Preset, then file, then flags (or the object given to `train()`): the whole configuration, checked.
 *
 * @throws {GrpoError} INVALID_CONFIG on an unknown key (naming the nearest), a wrong value, or a key that does nothing
 */
export function resolveTrainConfig(...layers: TrainInput[]): TrainConfig {
  const given = mergeTrainInputs(...(layers as Tree[])) as Tree;
  const preset = given['preset'];
  // An adapter's own configuration replaces the preset's LoRA values.
  const named = typeof preset === 'string' ? PRESETS[preset as keyof typeof PRESETS] : undefined;
  const { lora, ...rest } = named ?? {};
  const base: Tree = given['adapter'] === undefined && lora ? { ...rest, lora } : { ...rest };
  return parse(mergeConfigs(TRAIN_GROUPS, base, given), trainSchema, 'config');
}

/** What was stored has its defaults written out, so keys are not asked again whether they apply. */
function restore<T>(stored: Tree, given: Tree, schema: ConfigSchema): T {
  checkApplicable(given, 'config');
  const merged = mergeConfigs(TRAIN_GROUPS, stored, given);
  checkKnown(merged, schema, 'config');
  const result = schema.safeParse(merged);
  if (result.success) return result.data as T;
  throw new GrpoError('INVALID_CONFIG', 'config', describeIssues(result.error.issues, merged, schema));
}

/**
 * The configuration of an earlier run, from its `config.json`, with what is given on top.
 *
 * @throws {GrpoError} INVALID_CONFIG on an unknown key or a wrong value
 */
export const restoreTrainConfig = (stored: Tree, given: Tree): TrainConfig => restore(stored, given, trainSchema);

/** The same for `sft`. @throws {GrpoError} INVALID_CONFIG */
export const restoreSftConfig = (stored: Tree, given: Tree): SftConfig => restore(stored, given, sftSchema);

/** What a file and flags of `sft` give together, still without defaults. @throws {GrpoError} INVALID_CONFIG */
export function mergeSftInputs(...layers: Record<string, unknown>[]): SftInput {
  for (const layer of layers) checkKnown(layer, sftSchema, 'config');
  return mergeConfigs(TRAIN_GROUPS, ...layers);
}

/** The same for `sft()`. @throws {GrpoError} INVALID_CONFIG */
export function resolveSftConfig(...layers: SftInput[]): SftConfig {
  return parse(mergeSftInputs(...(layers as Tree[])) as Tree, sftSchema, 'config');
}

/** The same for `evaluate()`. @throws {GrpoError} INVALID_CONFIG */
export function resolveEvaluateConfig(...layers: EvaluateInput[]): EvaluateConfig {
  const config = parse<EvaluateConfig>(mergeConfigs([], ...(layers as Tree[])), evaluateSchema, 'config');
  const largest = Math.max(...[config.k].flat());
  if (largest > config.samples) {
    const message = `k ${largest} is larger than samples ${config.samples}: pass@k needs at least k samples`;
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  const twice = config.modes?.find((mode, index, modes) => modes.indexOf(mode) < index);
  if (twice !== undefined) throw new GrpoError('INVALID_CONFIG', 'config', `modes names ${twice} twice`);
  return config;
}

/** The same for `bench`. @throws {GrpoError} INVALID_CONFIG */
export function resolveBenchConfig(...layers: BenchInput[]): BenchConfig {
  return parse(mergeConfigs([], ...(layers as Tree[])), benchSchema, 'config');
}

/** The same for `generate`. @throws {GrpoError} INVALID_CONFIG */
export function resolveGenerateConfig(...layers: GenerateInput[]): GenerateConfig {
  return parse(mergeConfigs([], ...(layers as Tree[])), generateSchema, 'config');
}
