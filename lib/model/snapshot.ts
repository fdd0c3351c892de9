import { mkdir, readFile, readdir, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HubApiError, listFiles, modelInfo, type ListFileEntry } from '@huggingface/hub';
import { lock } from 'proper-lockfile';
import { GrpoError } from '../errors.js';
import { printLine } from '../terminal/live.js';
import { downloadFile } from './download.js';
import { replaceFile } from './durable-write.js';
import { hubFetch, readHubSettings, type HubSettings } from './hub-settings.js';

export interface SnapshotOptions {
  /** Branch, tag or commit. @default 'main' */
  revision?: string;
  signal?: AbortSignal;
  /** Address of the hub. @default HF_ENDPOINT, else https://huggingface.co */
  hubUrl?: string;
  /** Whether weights are wanted; a tokenizer does without them. @default true */
  weights?: boolean;
  /** Bytes fetched so far and altogether. */
  progress?: (done: number, total: number) => void;
  /** One line for the user: what is fetched, under which licence. @default standard error */
  notice?: (line: string) => void;
}

const SMALL_FILES = /^[^/\\]+\.(json|jinja)$|^(LICEN[CS]E|NOTICE)[^/\\]*$/i;
/** `consolidated.safetensors` repeats the weights in another layout. */
const WEIGHT_FILES = /^(?!consolidated)[^/\\]+\.safetensors$/;
const COMMIT = /^[0-9a-f]{40}$/;
const REVISION = /^(?!.*\.\.)[\w][\w./-]*$/;

const failed = (message: string, cause?: unknown) => new GrpoError('DOWNLOAD_FAILED', 'load', message, { cause });

const readNames = async (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** The newest snapshot in the cache that can serve, undefined when there is none. */
async function cachedSnapshot(storage: string, revision: string, weights: boolean): Promise<string | undefined> {
  const commit = COMMIT.test(revision)
    ? revision
    : (await readFile(join(storage, 'refs', revision), 'utf8').catch(() => '')).trim();
  if (!commit) return undefined;
  const folder = join(storage, 'snapshots', commit);
  const names = await readNames(folder);
  if (!names.includes('config.json') && !names.includes('tokenizer.json')) return undefined;
  if (!weights || names.includes('model.safetensors')) return folder;
  const index = await readFile(join(folder, 'model.safetensors.index.json'), 'utf8').catch(() => undefined);
  if (index === undefined) return undefined;
  const shards = new Set(index.match(/[^"/\\]+\.safetensors(?=")/g));
  return [...shards].every((shard) => names.includes(shard)) ? folder : undefined;
}

/** What a failed request to the hub means, and what to do. */
export function explainHubError(id: string, revision: string, settings: HubSettings, cause: unknown): GrpoError {
  if (!(cause instanceof HubApiError)) {
    const why = ((cause as Error).cause as Error | undefined)?.message ?? (cause as Error).message;
    return failed(
      `${settings.url} cannot be reached for ${id} (${why}); check the network, or name a local folder`,
      cause,
    );
  }
  if (cause.statusCode === 404) {
    return failed(
      `${id} (revision ${revision}) does not exist on ${settings.url}; check the name and the revision`,
      cause,
    );
  }
  if (cause.statusCode === 401 || cause.statusCode === 403) {
    const token = settings.token ? 'the token that is set has no access' : 'set HF_TOKEN';
    return failed(
      `${id} does not exist on ${settings.url}, or it is private or gated: ${token}, accept its terms there`,
      cause,
    );
  }
  return failed(`${settings.url} answered with status ${cause.statusCode} for ${id}: ${cause.message}`, cause);
}

async function listNeeded(id: string, commit: string, url: string, call: typeof fetch, weights: boolean) {
  const entries: ListFileEntry[] = [];
  for await (const entry of listFiles({ repo: id, revision: commit, hubUrl: url, fetch: call })) {
    const wanted = SMALL_FILES.test(entry.path) || (weights && WEIGHT_FILES.test(entry.path));
    if (entry.type === 'file' && wanted) entries.push(entry);
  }
  return entries.sort((a, b) => a.size - b.size);
}

/** Puts one file where Python's huggingface_hub would put it: content in blobs/, a link in snapshots/<commit>/. */
async function fetchEntry(
  entry: ListFileEntry,
  url: string,
  place: { storage: string; commit: string },
  options: { fetch: typeof fetch; signal?: AbortSignal; progress: (bytes: number) => void },
): Promise<void> {
  const digest = entry.lfs?.oid ?? entry.oid ?? '';
  if (!/^[0-9a-f]{40,64}$/.test(digest)) throw failed(`${url} has no digest on the hub's list of files`);
  const blob = join(place.storage, 'blobs', digest);
  const bytes = entry.lfs?.size ?? entry.size;
  const present = await stat(blob).catch(() => undefined);
  if (present?.size !== bytes) {
    const kind = entry.lfs ? 'sha256' : 'git-sha1';
    await downloadFile({ url, path: blob, bytes, digest: { kind, value: digest } }, options);
  }
  options.progress(bytes);
  const link = join(place.storage, 'snapshots', place.commit, entry.path);
  await rm(link, { force: true });
  await symlink(join('..', '..', 'blobs', digest), link);
}

/**
 * Fetches what a model needs of a hub repository into Hugging Face's cache and gives the snapshot's folder.
 *
 * Only `*.json`, `*.jinja`, `*.safetensors` and licence files at the top are fetched. An interrupted download goes on
 * where it stopped. Without a connection an earlier snapshot serves, with a notice.
 *
 * @throws GrpoError DOWNLOAD_FAILED, ABORTED.
 */
export async function fetchSnapshot(id: string, options: SnapshotOptions = {}): Promise<string> {
  const { revision = 'main', signal, weights = true } = options;
  const notice = options.notice ?? ((line: string) => printLine(process.stderr, line));
  if (!REVISION.test(revision)) throw new GrpoError('INVALID_ARGUMENT', 'load', `revision "${revision}" is not valid`);
  const settings = await readHubSettings(options.hubUrl);
  const storage = join(settings.cacheFolder, `models--${id.replace('/', '--')}`);
  const cached = await cachedSnapshot(storage, revision, weights);
  if (settings.offline) {
    if (cached) return cached;
    throw failed(
      `${id} (revision ${revision}) is not in ${settings.cacheFolder} and HF_HUB_OFFLINE is set; unset it once`,
    );
  }
  if (cached && weights && COMMIT.test(revision)) return cached;
  const call = hubFetch(settings, signal);
  try {
    const query = { name: id, revision, hubUrl: settings.url, fetch: call };
    const { sha: commit, cardData } = await modelInfo({ ...query, additionalFields: ['sha', 'cardData'] });
    if (!COMMIT.test(commit)) throw failed(`${settings.url} names no commit for ${id} (revision ${revision})`);
    const entries = await listNeeded(id, commit, settings.url, call, weights);
    const total = entries.reduce((sum, entry) => sum + entry.size, 0);
    const licence = (cardData as { license?: string } | undefined)?.license ?? 'not stated';
    await mkdir(join(storage, 'blobs'), { recursive: true });
    await mkdir(join(storage, 'snapshots', commit), { recursive: true });
    const release = await lock(storage, {
      stale: 30_000,
      lockfilePath: join(storage, '.grpo-native.lock'),
      retries: { forever: true, minTimeout: 200, maxTimeout: 2000 },
    });
    try {
      const present = await cachedSnapshot(storage, commit, weights);
      if (!present) notice(`fetching ${id} (${(total / 1e6).toFixed(0)} MB, licence: ${licence}) into ${storage}`);
      let before = 0;
      for (const entry of entries) {
        const url = `${settings.url}/${id}/resolve/${commit}/${encodeURIComponent(entry.path)}`;
        const progress = (bytes: number) => options.progress?.(before + bytes, total);
        await fetchEntry(entry, url, { storage, commit }, { fetch: call, signal, progress });
        before += entry.size;
      }
    } finally {
      await release();
    }
    if (revision !== commit) await writeRef(join(storage, 'refs', revision), commit);
    return join(storage, 'snapshots', commit);
  } catch (cause) {
    if (cause instanceof GrpoError) throw cause;
    if (signal?.aborted) throw new GrpoError('ABORTED', 'load', `fetching ${id} was aborted`, { cause });
    const error = explainHubError(id, revision, settings, cause);
    if (!cached || cause instanceof HubApiError) throw error;
    notice(`${error.message}; going on with the snapshot of an earlier download, ${cached}`);
    return cached;
  }
}

async function writeRef(path: string, commit: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, (handle) => handle.writeFile(commit));
}
