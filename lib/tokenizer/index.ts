import { stat } from 'node:fs/promises';
import { resolveModelFolder } from '../model/source.js';
import { readTokenizerFiles, requireTokenizerFiles } from './files.js';
import { FolderTokenizer } from './tokenizer.js';
import type { Tokenizer as TokenizerContract } from './types.js';

export { defaultStopIds } from './stop-ids.js';
export type { ChatTemplateOptions, EncodeOptions, TokenBytes } from './types.js';

/** Text to ids and back, and chat templates, of one model folder. */
export type Tokenizer = TokenizerContract;

/** Where to load a tokenizer from. */
export interface TokenizerLoadOptions {
  /** Hub revision. @default 'main' */
  revision?: string;
  signal?: AbortSignal;
}

export const Tokenizer = {
  /**
   * Loads the tokenizer of a model folder, or of a model on the Hugging Face hub.
   *
   * @throws GrpoError INVALID_TOKENIZER where there is no tokenizer.json, or one that cannot be used
   * @example
   * const tokenizer = await Tokenizer.load('models/SmolLM2-135M-Instruct');
   * tokenizer.applyChatTemplate([{ role: 'user', content: 'Hello' }], { addGenerationPrompt: true });
   */
  async load(folderOrHubId: string, options: TokenizerLoadOptions = {}): Promise<Tokenizer> {
    const isFolder = await stat(folderOrHubId).then(
      (status) => status.isDirectory(),
      () => false,
    );
    const folder = isFolder ? folderOrHubId : await resolveModelFolder(folderOrHubId, { ...options, weights: false });
    return new FolderTokenizer(await requireTokenizerFiles(folder));
  },

  /** As {@link Tokenizer.load}, of a local folder; undefined where it has no tokenizer.json. */
  async loadIfPresent(folder: string): Promise<Tokenizer | undefined> {
    const files = await readTokenizerFiles(folder);
    return files === undefined ? undefined : new FolderTokenizer(files);
  },
};
