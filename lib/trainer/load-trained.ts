import type { TrainConfig } from '../config/index.js';
import { loadPolicy } from '../launch/index.js';
import type { LoadOptions } from '../policy/types.js';
import type { TrainablePolicy } from './state.js';

const GIGABYTE = 1e9;

type LoadKeys =
  | 'model'
  | 'adapter'
  | 'device'
  | 'dtype'
  | 'train'
  | 'lora'
  | 'reference'
  | 'maxContext'
  | 'seed'
  | 'strict'
  | 'memoryGb';

/** Loads what a configuration trains: afresh, or from a checkpoint. @throws {GrpoError} what `Policy.load` throws */
export function loadTrained(
  config: Pick<TrainConfig, LoadKeys>,
  checkpoint: string | undefined,
  options: { loadPolicy?: (model: string | undefined, options: LoadOptions) => Promise<TrainablePolicy> },
  signal?: AbortSignal,
): Promise<TrainablePolicy> {
  const { adapter, device, dtype, train, lora, reference, maxContext, seed, strict, memoryGb } = config;
  // Only what was given: an adapter, and a checkpoint, bring their own LoRA configuration.
  const start = adapter !== undefined ? { adapter } : train === 'lora' ? { lora } : {};
  const given = checkpoint === undefined ? start : { resume: checkpoint };
  const memory = memoryGb === undefined ? {} : { memoryBytes: Math.round(memoryGb * GIGABYTE) };
  const load = options.loadPolicy ?? loadPolicy;
  return load(config.model, {
    device,
    dtype,
    train,
    ...given,
    ...memory,
    reference,
    maxContext,
    seed,
    strict,
    signal,
  });
}
