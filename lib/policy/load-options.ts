import { suggest } from '../known-keys.js';
import { PROJECTIONS, type Projection } from '../model/config.js';
import { OptionFields } from './option-fields.js';
import type { LoadOptions } from './types.js';

const LOAD_KEYS: readonly (keyof LoadOptions)[] = [
  'device',
  'dtype',
  'train',
  'lora',
  'adapter',
  'resume',
  'reference',
  'maxContext',
  'memoryBytes',
  'seed',
  'support',
  'strict',
  'revision',
  'signal',
];
const LORA_KEYS = ['rank', 'alpha', 'dropout', 'targetModules', 'rankStabilised'];
const DEFAULT_TARGETS: readonly Projection[] = ['q_proj', 'v_proj'];
/** Above this an adapter is larger than many of the matrices it stands beside. */
const MAX_RANK = 1024;

/** A fresh LoRA adapter to make. */
export interface ResolvedLora {
  rank: number;
  alpha: number;
  dropout: number;
  targetModules: Projection[];
  rankStabilised: boolean;
}

/** Load options with every default filled in; what depends on the model's files is resolved later. */
export interface ResolvedLoadOptions {
  device: 'cpu';
  dtype: 'auto' | 'float32' | 'bfloat16';
  train: 'lora' | 'full' | 'none';
  /** undefined when an adapter folder or a checkpoint is given or no adapter is trained. */
  lora: ResolvedLora | undefined;
  adapter: string | undefined;
  /** Folder of a checkpoint. */
  resume: string | undefined;
  /** 0 = what the machine has. */
  memoryBytes: number;
  reference: 'start' | 'base';
  /** undefined = the model's own. */
  maxContext: number | undefined;
  seed: number;
  support: 'tokenizer' | 'all';
  strict: boolean;
  revision: string | undefined;
  signal: AbortSignal | undefined;
}

function resolveDevice(fields: OptionFields): 'cpu' {
  const device = fields.string('device') ?? 'auto';
  if (device === 'auto' || device === 'cpu') return 'cpu';
  if (/^cuda(:\d+)?$/.test(device)) {
    throw fields.error(`device "${device}" is not available: this version runs on the CPU; use 'cpu' or 'auto'`);
  }
  throw fields.error(`device must be 'auto', 'cpu', 'cuda' or 'cuda:N', got "${device}"`);
}

function resolveTargets(fields: OptionFields): Projection[] {
  if (!fields.has('targetModules')) return [...DEFAULT_TARGETS];
  const targets = fields.raw('targetModules');
  if (!Array.isArray(targets) || targets.length === 0) {
    throw fields.error(`lora.targetModules must be a list with at least one of ${PROJECTIONS.join(', ')}`);
  }
  for (const target of targets as unknown[]) {
    if (!PROJECTIONS.includes(target as Projection)) {
      throw fields.error(
        `lora.targetModules: unknown module "${String(target)}"; ${suggest(String(target), PROJECTIONS)}`,
      );
    }
  }
  return PROJECTIONS.filter((name) => targets.includes(name));
}

function resolveLora(fields: OptionFields): ResolvedLora {
  const lora = new OptionFields(fields.operation, 'lora.', fields.raw('lora') ?? {}, LORA_KEYS);
  return {
    rank: lora.number('rank', 16, { min: 1, max: MAX_RANK, integer: true }),
    alpha: lora.number('alpha', 32, { above: 0, max: Number.MAX_VALUE }),
    dropout: lora.number('dropout', 0, { min: 0, below: 1 }),
    targetModules: resolveTargets(lora),
    rankStabilised: lora.boolean('rankStabilised', false),
  };
}

/**
 * Checks the options of `Policy.load` and fills in their defaults.
 *
 * @throws GrpoError INVALID_ARGUMENT for an unknown key, a value out of range or a key that does not apply.
 */
export function resolveLoadOptions(options: LoadOptions | undefined, operation = 'load'): ResolvedLoadOptions {
  const fields = new OptionFields(operation, '', options, LOAD_KEYS);
  const train = fields.choice('train', ['lora', 'full', 'none'], 'lora');
  const adapter = fields.string('adapter');
  const resume = fields.string('resume');
  fields.onlyWhen(resume === undefined, ['adapter'], 'no resume: the checkpoint brings its own adapter');
  fields.onlyWhen(train !== 'full', ['adapter'], "train 'lora' or 'none'; merge the adapter first with exportMerged");
  fields.onlyWhen(train === 'lora', ['lora'], "train 'lora'");
  fields.onlyWhen(adapter === undefined, ['lora'], 'no adapter: an adapter folder brings its own LoRA configuration');
  const strict = fields.boolean('strict', false);
  const dtype = fields.choice('dtype', ['auto', 'float32', 'bfloat16'], 'auto');
  if (strict && dtype === 'bfloat16') {
    throw fields.error("strict: true computes in float32; leave dtype at 'auto' or set it to 'float32'");
  }
  if (train === 'full' && dtype === 'bfloat16') {
    throw fields.error("train 'full' computes in float32; leave dtype at 'auto' or set it to 'float32'");
  }
  const signal = fields.raw('signal') ?? undefined;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw fields.error('signal must be an AbortSignal');
  return {
    device: resolveDevice(fields),
    dtype: strict || train === 'full' ? 'float32' : dtype,
    train,
    lora: train === 'lora' && adapter === undefined ? resolveLora(fields) : undefined,
    adapter,
    resume,
    memoryBytes: fields.number('memoryBytes', 0, { min: 1, integer: true }),
    reference: fields.choice('reference', ['start', 'base'], 'start'),
    maxContext: fields.has('maxContext') ? fields.number('maxContext', 0, { min: 1, integer: true }) : undefined,
    seed: fields.number('seed', 42, { min: 0, integer: true }),
    support: fields.choice('support', ['tokenizer', 'all'], 'tokenizer'),
    strict,
    revision: fields.string('revision'),
    signal,
  };
}

/**
 * The dtype of the resident weights: 'auto' is the file's, with float16 widened to bfloat16 (half precision overflows in
 * training), and float32 where the processor has no bfloat16 instructions.
 *
 * @param fileDtype dtype of most of the file's bytes
 * @param hasBfloat16 whether the processor multiplies bfloat16 natively
 */
export function resolveDtype(
  requested: ResolvedLoadOptions['dtype'],
  fileDtype: 'F32' | 'BF16' | 'F16',
  hasBfloat16: boolean,
): 'float32' | 'bfloat16' {
  if (requested !== 'auto') return requested;
  return fileDtype !== 'F32' && hasBfloat16 ? 'bfloat16' : 'float32';
}

/**
 * The context length to run with.
 *
 * @throws GrpoError INVALID_ARGUMENT when more is asked for than the model was made for.
 */
export function resolveMaxContext(requested: number | undefined, modelMaxContext: number, operation = 'load'): number {
  if (requested === undefined || requested <= modelMaxContext) return requested ?? modelMaxContext;
  const fields = new OptionFields(operation, '', {}, LOAD_KEYS);
  throw fields.error(`maxContext must be <= ${modelMaxContext}, the model's own limit, got ${requested}`);
}
