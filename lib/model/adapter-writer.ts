import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import type { AdapterConfig } from './adapter-config.js';
import { ADAPTER_CONFIG } from './adapter-config.js';
import { ADAPTER_WEIGHTS, canonicalName, peftName } from './adapter.js';
import { publishFolder, replaceFile } from './durable-write.js';
import { writeSafetensors, type TensorToWrite } from './safetensors-writer.js';

/** A trained adapter to save; tensors by canonical name, float32. */
export interface AdapterToWrite extends AdapterConfig {
  /** Layers of the model, to tell "all of them" from a choice. */
  modelLayers: number;
  /** Folder or hub id of the base model, written into the adapter's configuration. */
  baseModel: string;
  tensors: readonly { name: string; shape: readonly number[]; data: Float32Array }[];
}

/** PEFT's own fields with the values of plain LoRA, so that other readers find every one they look for. */
function peftConfig(adapter: AdapterToWrite): Record<string, unknown> {
  return {
    alpha_pattern: {},
    auto_mapping: null,
    base_model_name_or_path: adapter.baseModel,
    bias: 'none',
    exclude_modules: null,
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    layer_replication: null,
    layers_pattern: null,
    layers_to_transform: adapter.layers.length === adapter.modelLayers ? null : adapter.layers,
    lora_alpha: adapter.alpha,
    lora_bias: false,
    lora_dropout: adapter.dropout,
    modules_to_save: null,
    peft_type: 'LORA',
    r: adapter.rank,
    rank_pattern: {},
    revision: null,
    target_modules: adapter.targetModules,
    target_parameters: null,
    task_type: 'CAUSAL_LM',
    trainable_token_indices: null,
    use_dora: false,
    use_rslora: adapter.rankStabilised,
  };
}

function peftTensors(adapter: AdapterToWrite): TensorToWrite[] {
  const byName = new Map(adapter.tensors.map((tensor) => [tensor.name, tensor]));
  const tensors: TensorToWrite[] = [];
  for (const layer of adapter.layers) {
    for (const projection of adapter.targetModules) {
      for (const side of ['lora_A', 'lora_B'] as const) {
        const tensor = byName.get(canonicalName(layer, projection, side));
        if (!tensor) {
          throw new GrpoError(
            'INTERNAL',
            'save',
            `the trained adapter has no ${canonicalName(layer, projection, side)}`,
          );
        }
        if (!tensor.data.every(Number.isFinite)) {
          const message = `${tensor.name} holds a value that is not finite; the adapter is not saved`;
          throw new GrpoError('INVALID_ADAPTER', 'save', message);
        }
        const { shape, data } = tensor;
        tensors.push({ name: peftName(layer, projection, side), dtype: 'F32', shape, data });
      }
    }
  }
  if (tensors.length !== byName.size) {
    throw new GrpoError(
      'INTERNAL',
      'save',
      `${byName.size} trained tensors, the adapter's modules have ${tensors.length}`,
    );
  }
  return tensors;
}

/**
 * Saves an adapter as a PEFT folder (`adapter_config.json`, `adapter_model.safetensors`), whole or not at all.
 *
 * @throws GrpoError INVALID_ARGUMENT when the folder holds other files, INVALID_ADAPTER for a non-finite value,
 *   IO_FAILED when the disk refuses.
 */
export async function writeAdapter(folder: string, adapter: AdapterToWrite): Promise<void> {
  const tensors = peftTensors(adapter);
  await publishFolder(folder, ADAPTER_CONFIG, async (temporary) => {
    await writeSafetensors(join(temporary, ADAPTER_WEIGHTS), tensors);
    await replaceFile(join(temporary, ADAPTER_CONFIG), (handle) =>
      handle.writeFile(`${JSON.stringify(peftConfig(adapter), null, 2)}\n`),
    );
  });
}
