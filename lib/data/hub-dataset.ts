import { mkdir, readFile, readdir, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { datasetInfo, listFiles, type ListFileEntry } from '@huggingface/hub';
import { GrpoError } from '../errors.js';
import { printLine } from '../terminal/live.js';
import { downloadFile } from '../model/download.js';
import { replaceFile } from '../model/durable-write.js';
import { hubFetch, readHubSettings, type HubSettings } from '../model/hub-settings.js';
import { explainHubError } from '../model/snapshot.js';
import { chooseFiles } from './dataset-files.js';

export interface DatasetOptions {
  signal?: AbortSignal;
  /** Address of the hub. @default HF_ENDPOINT, else https://huggingface.co */
  hubUrl?: string;
  /** One line for the user: what is fetched, under which licence. @default standard error */
  notice?: (line: string) => void;
}

/** A data set of the hub as it is written in a configuration. */
interface DatasetName {
  id: string;
  revision: string;
  split: string | undefined;
}

const NAME =
  /^(?<hub>hub:)?(?<id>[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*)(?:@(?<revision>[\w][\w./-]*))?(?::(?<split>[\w][\w./-]*))?$/;
const COMMIT = /^[0-9a-f]{40}$/;

const failed = (message: string, cause?: unknown) => new GrpoError('DOWNLOAD_FAILED', 'tasks', message, { cause });

function parseName(source: string): DatasetName | undefined {
  const { hub, id, revision = 'main', split } = NAME.exec(source)?.groups ?? {};
  if (id === undefined || revision.includes('..')) return undefined;
  // `folder/tasks.jsonl` has the form of an id, but is meant as a file.
  if (hub === undefined && /\.(jsonl?|parquet|ya?ml|csv|txt)$/i.test(source)) return undefined;
  return { id, revision, split };
}

/** Whether a source of tasks names a data set of the hub. */
export function isHubDataset(source: string): boolean {
  return parseName(source) !== undefined;
}

const asText = (licence: unknown): string => [licence].flat().map(String).join(', ');

/** The licence as the data set's card states it, with what it forbids. */
export function licenceLine(id: string, licence: unknown): string {
  const stated = licence === undefined || licence === null ? 'not stated' : asText(licence);
  const isNonCommercial = /\bnc\b/i.test(stated) || /^kodcode\//i.test(id);
  return `licence: ${stated}${isNonCommercial ? ' (not for commercial use)' : ''}`;
}

/** Where the names of a commit's data files are kept: what is there of them may be one split only. */
const listOf = (storage: string, commit: string): string => join(storage, 'files', `${commit}.json`);

async function namesOfCommit(storage: string, commit: string): Promise<string[]> {
  const list = await readFile(listOf(storage, commit), 'utf8').catch(() => undefined);
  if (list !== undefined) return JSON.parse(list) as string[];
  // Fetched by another program: what is there is all that is known.
  const folder = join(storage, 'snapshots', commit);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** The files in the cache, where all that are wanted are there. */
async function cachedFiles(storage: string, { id, revision, split }: DatasetName): Promise<string[] | undefined> {
  const reference = await readFile(join(storage, 'refs', revision), 'utf8').catch(() => '');
  const commit = COMMIT.test(revision) ? revision : reference.trim();
  if (commit === '') return undefined;
  const names = await namesOfCommit(storage, commit);
  if (names.length === 0) return undefined;
  const chosen = chooseFiles(names, split, id).map((path) => join(storage, 'snapshots', commit, path));
  const present = await Promise.all(chosen.map((path) => stat(path).catch(() => undefined)));
  return present.includes(undefined) ? undefined : chosen;
}

async function listAll(id: string, commit: string, settings: HubSettings, call: typeof fetch) {
  const entries: ListFileEntry[] = [];
  const repo = { type: 'dataset', name: id } as const;
  for await (const entry of listFiles({ repo, revision: commit, recursive: true, hubUrl: settings.url, fetch: call })) {
    if (entry.type === 'file') entries.push(entry);
  }
  return entries;
}

/** Puts one file where Python's huggingface_hub would put it: content in blobs/, a link in snapshots/<commit>/. */
async function fetchFile(entry: ListFileEntry, url: string, storage: string, link: string, call: typeof fetch) {
  const digest = entry.lfs?.oid ?? entry.oid ?? '';
  if (!/^[0-9a-f]{40,64}$/.test(digest)) throw failed(`${url} has no digest on the hub's list of files`);
  const bytes = entry.lfs?.size ?? entry.size;
  const blob = join(storage, 'blobs', digest);
  const present = await stat(blob).catch(() => undefined);
  if (present?.size !== bytes) {
    const kind = entry.lfs ? 'sha256' : 'git-sha1';
    await downloadFile({ url, path: blob, bytes, digest: { kind, value: digest } }, { fetch: call });
  }
  await mkdir(dirname(link), { recursive: true });
  await rm(link, { force: true });
  await symlink(relative(dirname(link), blob), link);
}

/**
 * Fetches the task files of a data set into Hugging Face's cache and gives their paths. Without a connection, or with
 * HF_HUB_OFFLINE, files of an earlier download serve.
 *
 * @param source `organisation/name`, with `hub:` before it, `@revision` and `:split` after it where wanted
 * @throws DOWNLOAD_FAILED, INVALID_TASKS where it has no such split, ABORTED
 */
export async function fetchDataset(source: string, options: DatasetOptions = {}): Promise<string[]> {
  const name = parseName(source);
  if (name === undefined) throw new GrpoError('INVALID_ARGUMENT', 'tasks', `${source} names no data set of the hub`);
  const { id, revision, split } = name;
  const notice = options.notice ?? ((line: string) => printLine(process.stderr, line));
  const settings = await readHubSettings(options.hubUrl);
  const storage = join(settings.cacheFolder, `datasets--${id.replace('/', '--')}`);
  const cached = await cachedFiles(storage, name);
  if (settings.offline) {
    if (cached) return cached;
    throw failed(`${id} (revision ${revision}) is not in ${storage} and HF_HUB_OFFLINE is set; unset it once`);
  }
  if (cached && COMMIT.test(revision)) return cached;
  const call = hubFetch(settings, options.signal);
  try {
    const query = { name: id, revision, hubUrl: settings.url, fetch: call };
    const { sha: commit, cardData } = await datasetInfo({ ...query, additionalFields: ['sha', 'cardData'] });
    if (!COMMIT.test(commit)) throw failed(`${settings.url} names no commit for ${id} (revision ${revision})`);
    const entries = await listAll(id, commit, settings, call);
    const byPath = new Map(entries.map((entry) => [entry.path, entry]));
    const chosen = chooseFiles([...byPath.keys()], split, id).map((path) => byPath.get(path)!);
    const folder = join(storage, 'snapshots', commit);
    const megabytes = chosen.reduce((sum, entry) => sum + (entry.lfs?.size ?? entry.size), 0) / 1e6;
    const { license } = (cardData ?? {}) as { license?: unknown };
    notice(`data set ${id} at ${commit.slice(0, 7)} (${megabytes.toFixed(1)} MB, ${licenceLine(id, license)})`);
    await mkdir(join(storage, 'blobs'), { recursive: true });
    await mkdir(join(storage, 'files'), { recursive: true });
    await replaceFile(listOf(storage, commit), (handle) => handle.writeFile(JSON.stringify([...byPath.keys()])));
    for (const entry of chosen) {
      const path = entry.path.split('/').map(encodeURIComponent).join('/');
      const url = `${settings.url}/datasets/${id}/resolve/${commit}/${path}`;
      await fetchFile(entry, url, storage, join(folder, entry.path), call);
    }
    if (revision !== commit) await writeReference(join(storage, 'refs', revision), commit);
    return chosen.map((entry) => join(folder, entry.path));
  } catch (cause) {
    if (cause instanceof GrpoError && cause.code !== 'ABORTED') throw cause;
    if (options.signal?.aborted) throw new GrpoError('ABORTED', 'tasks', `fetching ${id} was aborted`, { cause });
    const error = explainHubError(id, revision, settings, cause);
    if (!cached || (cause as { statusCode?: number }).statusCode !== undefined) throw error;
    notice(`${error.message}; going on with the files of an earlier download`);
    return cached;
  }
}

async function writeReference(path: string, commit: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, (handle) => handle.writeFile(commit));
}
