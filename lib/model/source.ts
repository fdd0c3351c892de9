import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { GrpoError } from '../errors.js';
import { packageFolder } from '../package-folder.js';
import { startProgress } from '../terminal/progress.js';
import { fetchSnapshot, type SnapshotOptions } from './snapshot.js';

export type SourceOptions = SnapshotOptions;

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const HUB_ID = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/;

/** Names of models that come with the package. */
export const EMBEDDED_MODELS: readonly string[] = ['embedded:demo'];

const invalid = (message: string) => new GrpoError('INVALID_MODEL', 'load', message);

/**
 * The local folder of a model: the folder itself, that of a model which comes with the package (`embedded:demo`), or the snapshot of a hub id in Hugging Face's cache, fetched if needed.
 *
 * A folder counts when it has `config.json` or `tokenizer.json`. A hub id is `organisation/name`. HF_ENDPOINT, HF_HOME,
 * HF_HUB_CACHE, HF_HUB_OFFLINE, HF_TOKEN, HUGGING_FACE_HUB_TOKEN and the saved token are honoured.
 *
 * @throws GrpoError INVALID_MODEL when it is neither, DOWNLOAD_FAILED when the hub refuses or cannot be reached, ABORTED.
 *
 * @example
 * const folder = await resolveModelFolder('HuggingFaceTB/SmolLM2-135M-Instruct');
 */
export async function resolveModelFolder(folderOrHubId: string, options: SourceOptions = {}): Promise<string> {
  if (typeof folderOrHubId !== 'string' || folderOrHubId.length === 0) {
    throw new GrpoError('INVALID_ARGUMENT', 'load', 'a model folder or hub id must be given');
  }
  if (folderOrHubId.startsWith('embedded:')) {
    if (EMBEDDED_MODELS.includes(folderOrHubId)) {
      return join(packageFolder(), 'models', folderOrHubId.slice('embedded:'.length));
    }
    throw invalid(`${folderOrHubId} does not come with this package; there is ${EMBEDDED_MODELS.join(', ')}`);
  }
  const path = resolve(folderOrHubId.replace(/^~(?=\/|$)/, homedir()));
  const status = await stat(path).catch(() => undefined);
  if (status && !status.isDirectory()) throw invalid(`${path} is a file; name the folder that holds config.json`);
  if (status) {
    if ((await exists(join(path, 'config.json'))) || (await exists(join(path, 'tokenizer.json')))) return path;
    throw invalid(`${path} is no model folder: it has neither config.json nor tokenizer.json`);
  }
  if (!HUB_ID.test(folderOrHubId)) {
    throw invalid(`${folderOrHubId} is neither an existing folder nor a hub id of the form organisation/name`);
  }
  if (options.progress) return fetchSnapshot(folderOrHubId, options);
  const bar = startProgress(`fetching ${folderOrHubId}`, 'MB');
  return fetchSnapshot(folderOrHubId, { ...options, progress: bar.update }).finally(() => bar.stop());
}
