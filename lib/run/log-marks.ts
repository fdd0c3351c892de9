import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { GrpoError } from '../errors.js';

/** Where the logs of a run stood when a checkpoint was written: they only grow, so that bytes say it exactly. */
export interface LogMarks {
  metrics: number;
  evaluations: number;
  trajectories: number;
  /** Compressed parts of the trajectories so far. */
  parts: number;
}

/** A log at its very beginning. */
export const EMPTY_LOGS: LogMarks = { metrics: 0, evaluations: 0, trajectories: 0, parts: 0 };

const PART = /^trajectories-(\d+)\.jsonl\.gz$/;
const partName = (number: number) => `trajectories-${String(number).padStart(4, '0')}.jsonl.gz`;

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (entry) => entry.size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return 0;
      throw error;
    },
  );
}

async function partNumbers(folder: string): Promise<number[]> {
  return (await readdir(folder)).flatMap((name) => PART.exec(name)?.[1] ?? []).map(Number);
}

/** Where the logs of a run stand now. */
export async function markLogs(folder: string): Promise<LogMarks> {
  const size = (name: string) => sizeOf(join(folder, `${name}.jsonl`));
  return {
    metrics: await size('metrics'),
    evaluations: await size('evaluations'),
    trajectories: await size('trajectories'),
    parts: Math.max(0, ...(await partNumbers(folder))),
  };
}

async function cutTo(path: string, bytes: number): Promise<void> {
  const size = await sizeOf(path);
  if (size < bytes) {
    const message = `${path} has ${size} bytes, its checkpoint was written at ${bytes}: the log was shortened since`;
    throw new GrpoError('RUN_INVALID', 'resume', message);
  }
  if (bytes === 0) await rm(path, { force: true });
  else if (size > bytes) await truncate(path, bytes);
}

/**
 * Cuts the three logs to where they stood at a checkpoint, so that no step is in them twice.
 *
 * @throws {GrpoError} RUN_INVALID where a log is shorter than that, IO_FAILED
 */
export async function cutLogs(folder: string, marks: LogMarks): Promise<void> {
  try {
    await cutTo(join(folder, 'metrics.jsonl'), marks.metrics);
    await cutTo(join(folder, 'evaluations.jsonl'), marks.evaluations);
    const live = join(folder, 'trajectories.jsonl');
    const later = (await partNumbers(folder)).filter((number) => number > marks.parts).sort((a, b) => a - b);
    if (later[0] !== undefined) {
      // What was the live file then has moved into the first part after it.
      await pipeline(
        createReadStream(join(folder, partName(later[0]))),
        createGunzip(),
        createWriteStream(`${live}.part`),
      );
      await rename(`${live}.part`, live);
      for (const number of later) await rm(join(folder, partName(number)));
    }
    await cutTo(live, marks.trajectories);
  } catch (error) {
    if (error instanceof GrpoError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new GrpoError('IO_FAILED', 'resume', `the logs in ${folder} cannot be cut: ${reason}`, { cause: error });
  }
}
