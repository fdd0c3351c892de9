import { join } from 'node:path';
import type { UpdateRow } from '../../lib/policy/index.js';
import { temporaryFolder } from '../model/fixture-folder.js';
import { readExpected } from '../numeric/fixtures.js';
import { readSafetensorsValues } from '../numeric/safetensors-values.js';
import type { Policy } from '../../lib/policy/index.js';

/** The rows of a fixture's update, without old log-probs. */
export function fixtureRows(name: string): UpdateRow[] {
  const { inputs, lora } = readExpected(name);
  return inputs.map((ids, i) => ({
    ids,
    mask: lora.update.mask[i] as number[],
    advantage: lora.update.advantages[i] as number,
  }));
}

/** Everything that a policy's checkpoint holds in numbers, by file and tensor. */
export async function stateOf(policy: Policy): Promise<Map<string, Float32Array>> {
  const folder = join(temporaryFolder(), 'state');
  await policy.saveCheckpoint(folder);
  const isFull = policy.description.train === 'full';
  const weights = readSafetensorsValues(
    join(folder, isFull ? 'model.safetensors' : 'adapter/adapter_model.safetensors'),
  );
  const moments = readSafetensorsValues(join(folder, 'optimizer.safetensors'));
  return new Map([...weights, ...moments]);
}

/** Names of the tensors that are not equal bit for bit. */
export function changedTensors(a: Map<string, Float32Array>, b: Map<string, Float32Array>): string[] {
  const bytes = (array: Float32Array | undefined) => Buffer.from(array?.buffer ?? new ArrayBuffer(0));
  return [...new Set([...a.keys(), ...b.keys()])].filter((name) => !bytes(a.get(name)).equals(bytes(b.get(name))));
}
