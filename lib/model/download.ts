import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { GrpoError } from '../errors.js';

/** A file to fetch, with what is known of it beforehand. */
export interface Download {
  url: string;
  /** Final path; the part that has arrived lies in `<path>.incomplete`. */
  path: string;
  bytes: number;
  /** Hexadecimal digest of the content: plain SHA-256, or git's SHA-1 of a blob. */
  digest: { kind: 'sha256' | 'git-sha1'; value: string };
}

export interface DownloadOptions {
  fetch: typeof fetch;
  signal?: AbortSignal;
  /** Bytes of this file that are there so far. */
  progress?: (bytes: number) => void;
  /** Pauses before the second, third, ... attempt. @default [500, 2000, 5000] */
  retryDelaysMs?: readonly number[];
}

/** A refusal that another attempt would meet again. */
class Refused extends Error {}

const sizeOf = async (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

async function fetchRest(download: Download, options: DownloadOptions, incomplete: string): Promise<void> {
  const have = await sizeOf(incomplete);
  if (have >= download.bytes) return;
  const headers: Record<string, string> = have > 0 ? { range: `bytes=${have}-` } : {};
  const response = await options.fetch(download.url, { headers });
  if (!response.ok) {
    const message = `HTTP status ${response.status}`;
    throw response.status >= 500 || response.status === 429 ? new Error(message) : new Refused(message);
  }
  if (!response.body) throw new Error('an empty answer');
  const resumed = response.status === 206;
  const handle = await open(incomplete, resumed ? 'a' : 'w');
  let done = resumed ? have : 0;
  try {
    await pipeline(Readable.fromWeb(response.body), async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) {
        await handle.writeFile(chunk);
        done += chunk.byteLength;
        options.progress?.(done);
      }
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (done < download.bytes) throw new Error(`the connection ended after ${done} of ${download.bytes} bytes`);
}

async function matches(path: string, { bytes, digest }: Download): Promise<boolean> {
  if ((await sizeOf(path)) !== bytes) return false;
  const hash = createHash(digest.kind === 'sha256' ? 'sha256' : 'sha1');
  if (digest.kind === 'git-sha1') hash.update(`blob ${bytes}\0`);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex') === digest.value;
}

/**
 * Fetches a file, going on where an earlier attempt stopped, and keeps it only when its digest is right.
 *
 * @throws GrpoError DOWNLOAD_FAILED, ABORTED. What has arrived stays for the next attempt, unless it is wrong.
 */
export async function downloadFile(download: Download, options: DownloadOptions): Promise<void> {
  const incomplete = `${download.path}.incomplete`;
  const delays = options.retryDelaysMs ?? [500, 2000, 5000];
  for (let attempt = 0; ; attempt++) {
    try {
      await fetchRest(download, options, incomplete);
      break;
    } catch (cause) {
      if (options.signal?.aborted) throw new GrpoError('ABORTED', 'download', 'the download was aborted', { cause });
      const delay = delays[attempt];
      if (cause instanceof Refused || delay === undefined) {
        const message = `${download.url} could not be fetched (${(cause as Error).message}); run again to go on`;
        throw new GrpoError('DOWNLOAD_FAILED', 'download', message, { cause });
      }
      // An abort ends the pause; the next attempt then reports it.
      await sleep(delay, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
  if (!(await matches(incomplete, download))) {
    await rm(incomplete, { force: true });
    throw new GrpoError('DOWNLOAD_FAILED', 'download', `${download.url} arrived damaged and was removed; run again`);
  }
  await rename(incomplete, download.path);
}
