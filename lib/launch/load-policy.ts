import { GrpoError } from '../errors.js';
import { readAdapter } from '../model/adapter.js';
import { readModelFolder } from '../model/folder.js';
import { resolveModelFolder } from '../model/source.js';
import type { Policy } from '../policy/index.js';
import type { LoadOptions } from '../policy/types.js';

/**
 * Loads a model with the native core.
 *
 * @throws {GrpoError} INVALID_CONFIG without a model, ABORTED, and what `Policy.load` throws
 */
export async function loadPolicy(model: string | undefined, options: LoadOptions): Promise<Policy> {
  if (model === undefined) {
    const message = 'a model is needed: give --model FOLDER (a Hugging Face folder) and --tasks FILE (JSONL)';
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  // Imported late: commands that need no model start without the native core.
  const { Policy: Loaded } = await import('../policy/index.js');
  try {
    return await Loaded.load(model, options);
  } catch (error) {
    // Whatever was under way when the signal fired, the caller asked for the end.
    if (options.signal?.aborted) throw new GrpoError('ABORTED', 'load', 'loading was aborted', { cause: error });
    throw error;
  }
}

/**
 * Reads an adapter and compares it with the model that it is for, without loading either.
 *
 * @throws {GrpoError} INVALID_ADAPTER, and what is wrong with the model's folder
 */
export async function checkAdapter(model: string, adapter: string, signal?: AbortSignal): Promise<void> {
  const { config, files } = await readModelFolder(await resolveModelFolder(model, { signal }));
  await readAdapter(adapter, config, files.length);
}
