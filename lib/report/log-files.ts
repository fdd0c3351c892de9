import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';

const PART = /^trajectories-(\d+)\.jsonl\.gz$/;
const NEWLINE = 10;

/** One line of a log: its bytes without the line end, and where it begins in the uncompressed file. */
export interface LogLine {
  offset: number;
  bytes: Buffer;
}

/** Files of a run's trajectories, as they are now. */
export interface TrajectoryFiles {
  /** Number of compressed parts; the live file is the one after them. */
  parts: number;
  /** Bytes of the live file; 0 where there is none. */
  liveBytes: number;
}

/** Which files hold a run's trajectories. */
export async function trajectoryFiles(folder: string): Promise<TrajectoryFiles> {
  const numbers = (await readdir(folder)).map((name) => Number(PART.exec(name)?.[1] ?? 0));
  const live = await stat(join(folder, 'trajectories.jsonl')).catch(() => undefined);
  return { parts: Math.max(0, ...numbers), liveBytes: live?.size ?? 0 };
}

function openPart(folder: string, part: number, files: TrajectoryFiles, from: number): [NodeJS.ReadableStream, number] {
  if (part > files.parts) return [createReadStream(join(folder, 'trajectories.jsonl'), { start: from }), from];
  const name = `trajectories-${String(part).padStart(4, '0')}.jsonl.gz`;
  const source = createReadStream(join(folder, name));
  const unpacked = createGunzip();
  source.on('error', (error) => unpacked.destroy(error));
  unpacked.on('close', () => source.destroy());
  return [source.pipe(unpacked), 0];
}

/**
 * Whole lines of a part from an offset on, one after the other; a last line without its end is left for later.
 *
 * @param part from 1; the number after the last compressed part is the live file
 */
export async function* readPart(
  folder: string,
  part: number,
  files: TrajectoryFiles,
  from = 0,
): AsyncGenerator<LogLine> {
  const [stream, base] = openPart(folder, part, files, from);
  let offset = base;
  let kept: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const bytes =
        kept.length === 0 ? chunk.subarray(start, end) : Buffer.concat([...kept, chunk.subarray(start, end)]);
      kept = [];
      start = end + 1;
      if (offset >= from) yield { offset, bytes };
      offset += bytes.length + 1;
    }
    if (start < chunk.length) kept.push(chunk.subarray(start));
  }
}
