import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { GrpoError } from '../errors.js';

/** What to fetch and how to judge it. */
export interface DownloadOptions {
  url: string;
  /** Where the finished file goes; `<to>.part` holds what there is so far and is continued by the next call. */
  to: string;
  /** Lower-case hex. */
  sha256: string;
  onProgress?: (doneBytes: number, totalBytes: number) => void;
  /** Tries after the first, each only when the one before broke off. @default 4 */
  retries?: number;
  /** First pause between tries, doubled each time. @default 1000 */
  pauseMs?: number;
  /** Longest time without a single byte. @default 60000 */
  stallMs?: number;
}

/** An answer that a further try will not change. */
class FinalAnswer extends Error {}

/**
 * Fetches a file, going on where an earlier try stopped, and checks its SHA-256 before it gets its name.
 *
 * @throws DOWNLOAD_FAILED with the address, the last reason, and what to do.
 */
export async function download(options: DownloadOptions): Promise<void> {
  const part = `${options.to}.part`;
  const retries = options.retries ?? 4;
  for (let attempt = 0; ; ++attempt) {
    const resumed = sizeOf(part) > 0;
    try {
      await fetchRest(options, part);
      const found = await sha256Of(part);
      if (found === options.sha256) break;
      await rm(part, { force: true });
      const wrong = `its SHA-256 must be ${options.sha256}, but is ${found}`;
      // A resumed file may join two different ones; a whole one that is wrong stays wrong.
      throw resumed ? new Error(wrong) : new FinalAnswer(wrong);
    } catch (error) {
      if (attempt >= retries || error instanceof FinalAnswer) {
        throw new GrpoError('DOWNLOAD_FAILED', 'download', `${options.url}: ${reasonOf(error)}`, { cause: error });
      }
      await sleep((options.pauseMs ?? 1000) * 2 ** attempt);
    }
  }
  await rename(part, options.to);
}

async function fetchRest(options: DownloadOptions, part: string): Promise<void> {
  const have = sizeOf(part);
  const stalled = new AbortController();
  const stallMs = options.stallMs ?? 60_000;
  const timer = setTimeout(() => stalled.abort(new Error(`no data for ${stallMs / 1000} s`)), stallMs);
  try {
    const response = await fetch(options.url, {
      headers: { 'accept-encoding': 'identity', ...(have > 0 ? { range: `bytes=${have}-` } : {}) },
      signal: stalled.signal,
    });
    // The part is already as long as the file: the checksum decides.
    if (response.status === 416 && have > 0) return;
    if (!response.ok || !response.body) {
      const text = `the server answered ${response.status} ${response.statusText}`.trim();
      throw response.status >= 500 || response.status === 429 ? new Error(text) : new FinalAnswer(text);
    }
    const start = response.status === 206 ? have : 0;
    const announced = Number(response.headers.get('content-length') ?? Number.NaN);
    const total = start + announced;
    let done = start;
    const count = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        timer.refresh();
        done += chunk.length;
        options.onProgress?.(done, total);
        next(null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), count, createWriteStream(part, { flags: start > 0 ? 'a' : 'w' }));
    if (Number.isFinite(total) && done < total) throw new Error(`broke off after ${done} of ${total} bytes`);
  } finally {
    clearTimeout(timer);
  }
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

/** SHA-256 of a file, lower-case hex. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The reason in words: fetch hides it (no such host, refused) in its cause. */
export function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && !(inner instanceof GrpoError) && inner.cause instanceof Error) inner = inner.cause;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}
