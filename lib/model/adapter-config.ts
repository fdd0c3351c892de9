import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { projectionPath, PROJECTIONS, type ModelConfig, type Projection } from './config.js';
import { isJsonObject, JsonFields } from './json-fields.js';

/** What `adapter_config.json` says, resolved against a model. */
export interface AdapterConfig {
  /** LoRA rank. */
  rank: number;
  alpha: number;
  /** Dropout on the adapter's input while training, [0, 1). */
  dropout: number;
  /** Rank-stabilised: the scaling is alpha / sqrt(rank) instead of alpha / rank. */
  rankStabilised: boolean;
  targetModules: Projection[];
  /** Layers that carry the adapter, ascending. */
  layers: number[];
}

export const ADAPTER_CONFIG = 'adapter_config.json';

const LORA_ONLY = 'supported is plain LoRA on the linear layers of the block';
/** Initialisations that leave the base weights alone; the others (PiSSA, OLoRA, CorDA, LoftQ, ...) rewrite them. */
const HARMLESS_INITS: unknown[] = [undefined, null, true, false, 'gaussian', 'orthogonal', 'eva'];
/** Fields that are read here, or that say nothing about the adapter's numbers. */
// prettier-ignore
const KNOWN = new Set([
  'r', 'lora_alpha', 'lora_dropout', 'use_rslora', 'target_modules', 'layers_to_transform', 'layers_pattern',
  'exclude_modules', 'peft_type', 'task_type', 'bias', 'init_lora_weights', 'auto_mapping', 'base_model_name_or_path',
  'revision', 'inference_mode', 'peft_version', 'megatron_core', 'qalora_group_size', 'loftq_config', 'eva_config',
  'corda_config', 'lora_ga_config', 'runtime_config', 'ensure_weight_tying',
]);

const isOff = (value: unknown): boolean =>
  value === null ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isJsonObject(value) && Object.keys(value).length === 0);

function refuseOtherAdapters(fields: JsonFields): void {
  const type = fields.string('peft_type');
  if (type !== 'LORA') throw fields.fault('peft_type', `must be "LORA" (${LORA_ONLY})`);
  if (fields.has('task_type') && fields.raw('task_type') !== 'CAUSAL_LM') {
    throw fields.fault('task_type', 'must be "CAUSAL_LM"');
  }
  if (fields.string('bias', 'none') !== 'none') throw fields.fault('bias', 'must be "none": biases are not trained');
  if (!HARMLESS_INITS.includes(fields.raw('init_lora_weights'))) {
    throw fields.fault(
      'init_lora_weights',
      'is not supported: it changes the base weights; convert the adapter in PEFT',
    );
  }
  for (const name of fields.names()) {
    if (!KNOWN.has(name) && !isOff(fields.raw(name))) throw fields.fault(name, `is not supported; ${LORA_ONLY}`);
  }
}

/** PEFT matches a string as a whole-name regular expression, and a list by name or by the end of the name. */
function matcher(fields: JsonFields, name: string): ((path: string) => boolean) | undefined {
  const value = fields.raw(name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    if (value === 'all-linear') return () => true;
    try {
      const pattern = new RegExp(`^(?:${value})$`);
      return (path) => pattern.test(path);
    } catch {
      throw fields.fault(name, 'must be a list of module names or a regular expression that JavaScript can read');
    }
  }
  const list = fields.strings(name)!;
  return (path) => list.some((entry) => path === entry || path.endsWith(`.${entry}`));
}

function readLayers(fields: JsonFields, config: ModelConfig): number[] {
  const all = Array.from({ length: config.layers }, (_, layer) => layer);
  if (fields.has('layers_pattern') && !['', 'layers'].includes(fields.raw('layers_pattern') as string)) {
    const pattern = fields.strings('layers_pattern')!;
    if (pattern.some((entry) => entry !== 'layers')) throw fields.fault('layers_pattern', 'must be "layers" or null');
  }
  const chosen = fields.ids('layers_to_transform');
  const outside = chosen.find((layer) => layer >= config.layers);
  if (outside !== undefined) {
    throw fields.fault('layers_to_transform', `names layer ${outside}, the model has ${config.layers}`);
  }
  return chosen.length > 0 ? all.filter((layer) => chosen.includes(layer)) : all;
}

/** Every list entry must hit a projection: one that does not (lm_head, a typing error) would train nothing, silently. */
function checkTargets(fields: JsonFields): void {
  const targets = fields.raw('target_modules');
  if (typeof targets === 'string') return;
  const list = fields.strings('target_modules');
  if (!list || list.length === 0) throw fields.fault('target_modules', 'must name the adapted modules');
  const stray = list.find((entry) => !PROJECTIONS.some((name) => entry === name || entry.endsWith(`.${name}`)));
  if (stray !== undefined) {
    const message = `${fields.file}: field "target_modules" names "${stray}"; supported are ${PROJECTIONS.join(', ')}`;
    throw new GrpoError('INVALID_ADAPTER', 'load', message);
  }
}

function resolveModules(fields: JsonFields, config: ModelConfig): Pick<AdapterConfig, 'targetModules' | 'layers'> {
  checkTargets(fields);
  const targeted = matcher(fields, 'target_modules')!;
  const excluded = matcher(fields, 'exclude_modules') ?? (() => false);
  const chosenLayers = readLayers(fields, config);
  const carries = (layer: number, projection: Projection) => {
    const path = `model.layers.${layer}.${projectionPath(projection)}`;
    return targeted(path) && !excluded(path);
  };
  const targetModules = PROJECTIONS.filter((name) => chosenLayers.some((layer) => carries(layer, name)));
  const layers = chosenLayers.filter((layer) => targetModules.some((name) => carries(layer, name)));
  if (layers.length === 0) throw fields.fault('target_modules', 'must match a linear layer of the model');
  for (const layer of layers) {
    const without = targetModules.find((name) => !carries(layer, name));
    if (without) {
      throw fields.fault('target_modules', `must be the same in every adapted layer; layer ${layer} has no ${without}`);
    }
  }
  return { targetModules, layers };
}

/**
 * Reads `adapter_config.json` of a PEFT LoRA folder and resolves it against the model's layers.
 *
 * @throws GrpoError INVALID_ADAPTER naming the file and the field.
 */
export async function readAdapterConfig(folder: string, config: ModelConfig): Promise<AdapterConfig> {
  const fields = await JsonFields.read(join(folder, ADAPTER_CONFIG), 'INVALID_ADAPTER');
  refuseOtherAdapters(fields);
  return {
    rank: fields.integer('r'),
    alpha: fields.number('lora_alpha'),
    dropout: fields.fraction('lora_dropout', 0),
    rankStabilised: fields.boolean('use_rslora', false),
    ...resolveModules(fields, config),
  };
}
