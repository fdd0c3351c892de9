import { GrpoError } from '../errors.js';
import type { LoadOptions, PolicyLike } from '../policy/types.js';

/**
 * Loads a model with the native core.
 *
 * @throws {GrpoError} INVALID_CONFIG without a model, and what `Policy.load` throws
 */
export async function loadPolicy(model: string | undefined, options: LoadOptions): Promise<PolicyLike> {
  if (model === undefined) {
    const message = 'a model is needed: give --model FOLDER (a Hugging Face folder) and --tasks FILE (JSONL)';
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  // Imported late: commands that need no model start without the native core.
  const { Policy } = await import('../policy/index.js');
  return Policy.load(model, options);
}
