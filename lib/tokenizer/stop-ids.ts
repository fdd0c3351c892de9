import { readStopIds } from './files.js';
import type { Tokenizer } from './types.js';

/**
 * Where a turn of a model folder stops by default: the eos list of generation_config.json (of config.json where that has
 * none) and the chat template's turn end. Empty where the folder names none.
 *
 * @param tokenizer the folder's, undefined where it has none
 * @throws GrpoError INVALID_TOKENIZER for files that do not parse
 */
export async function defaultStopIds(folder: string, tokenizer: Tokenizer | undefined): Promise<number[]> {
  return [...(tokenizer?.stopIds ?? (await readStopIds(folder)))];
}
