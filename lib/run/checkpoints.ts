import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { GrpoError } from '../errors.js';
import { publishFolder, replaceFile } from '../model/durable-write.js';

const RECORD = 'run.json';
const FOLDER = 'checkpoints';
const STEP = /^step-(\d+)$/;

interface FileSum {
  path: string;
  bytes: number;
  sha256: string;
}

/** What `run.json` of a checkpoint holds. */
export interface CheckpointRecord<State> {
  format: 1;
  step: number;
  state: State;
  config: Record<string, unknown>;
  /** Every other file of the checkpoint. */
  files: FileSum[];
}

/** A checkpoint that was read and found whole. */
export interface FoundCheckpoint<State> {
  folder: string;
  record: CheckpointRecord<State>;
}

async function sumFile(folder: string, path: string): Promise<FileSum> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(join(folder, path)), hash);
  const { size } = await stat(join(folder, path));
  return { path, bytes: size, sha256: hash.digest('hex') };
}

async function sumFiles(folder: string): Promise<FileSum[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => path !== RECORD);
  const sums: FileSum[] = [];
  for (const path of paths.sort()) sums.push(await sumFile(folder, path));
  return sums;
}

const checkpointFolder = (run: string, step: number) => join(run, FOLDER, `step-${step}`);

const writeRecord = (folder: string, record: object) =>
  replaceFile(join(folder, RECORD), (handle) => handle.writeFile(`${JSON.stringify(record, undefined, 2)}\n`));

/**
 * Writes `checkpoints/step-N/` under a temporary name, syncs and renames it; a fault or a kill at any point leaves the
 * earlier ones as they were.
 *
 * @param fill writes weights, optimizer and generator into the given folder
 * @returns its size in bytes
 * @throws {GrpoError} IO_FAILED when the disk refuses
 */
export async function writeCheckpoint<State>(
  run: string,
  record: Omit<CheckpointRecord<State>, 'format' | 'files'>,
  fill: (folder: string) => Promise<void>,
): Promise<number> {
  let bytes = 0;
  await publishFolder(checkpointFolder(run, record.step), RECORD, async (temporary) => {
    await fill(temporary);
    const files = await sumFiles(temporary);
    bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    await writeRecord(temporary, { format: 1, ...record, files });
  });
  return bytes;
}

/** Replaces the state of a checkpoint whose weights are still the present ones; false where there is none of that step. */
export async function refreshCheckpoint<State>(run: string, step: number, state: State): Promise<boolean> {
  const folder = checkpointFolder(run, step);
  const text = await readFile(join(folder, RECORD), 'utf8').catch(() => undefined);
  if (text === undefined) return false;
  await writeRecord(folder, { ...(JSON.parse(text) as CheckpointRecord<State>), state });
  return true;
}

async function stepsOf(run: string): Promise<number[]> {
  const names = await readdir(join(run, FOLDER)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new GrpoError('IO_FAILED', 'resume', `${join(run, FOLDER)} cannot be read: ${error.message}`);
  });
  return names
    .flatMap((name) => STEP.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((left, right) => right - left);
}

/** Removes all checkpoints but the newest `keep`. */
export async function pruneCheckpoints(run: string, keep: number): Promise<void> {
  for (const step of (await stepsOf(run)).slice(keep)) {
    await rm(checkpointFolder(run, step), { recursive: true, force: true });
  }
}

/** Removes the checkpoints after a step: another future begins there. */
export async function dropCheckpointsAfter(run: string, step: number): Promise<void> {
  for (const later of (await stepsOf(run)).filter((other) => other > step)) {
    await rm(checkpointFolder(run, later), { recursive: true, force: true });
  }
}

async function readCheckpoint<State>(folder: string): Promise<CheckpointRecord<State> | string> {
  let record: CheckpointRecord<State>;
  try {
    record = JSON.parse(await readFile(join(folder, RECORD), 'utf8')) as CheckpointRecord<State>;
  } catch (error) {
    return `${RECORD} cannot be read: ${(error as Error).message}`;
  }
  if (record.format !== 1) return `its format is ${String(record.format)}, this version reads 1`;
  for (const wanted of record.files) {
    const found = await sumFile(folder, wanted.path).catch((error: Error) => error.message);
    if (typeof found === 'string') return `${wanted.path}: ${found}`;
    if (found.bytes !== wanted.bytes) return `${wanted.path} has ${found.bytes} bytes instead of ${wanted.bytes}`;
    if (found.sha256 !== wanted.sha256) return `${wanted.path} has changed since it was written`;
  }
  return record;
}

/**
 * The newest checkpoint that is whole; broken ones are skipped, and told.
 *
 * @returns undefined where the run has none
 * @throws {GrpoError} RUN_INVALID where all of them are broken
 */
export async function findCheckpoint<State>(
  run: string,
  onBroken: (message: string) => void,
): Promise<FoundCheckpoint<State> | undefined> {
  const steps = await stepsOf(run);
  for (const step of steps) {
    const folder = checkpointFolder(run, step);
    const read = await readCheckpoint<State>(folder);
    if (typeof read !== 'string') return { folder, record: read };
    onBroken(`the checkpoint of step ${step} is broken and skipped: ${read}`);
  }
  if (steps.length === 0) return undefined;
  throw new GrpoError('RUN_INVALID', 'resume', `${run} has no whole checkpoint: all ${steps.length} are broken`);
}

/** Removes what a killed process left half done: temporary folders and files beside their places. */
export async function removeLeftovers(run: string): Promise<void> {
  for (const folder of [run, join(run, FOLDER)]) {
    const names = await readdir(folder).catch(() => []);
    const left = names.filter((name) => /^\..*\.tmp$/.test(name) || /\.(next|old|part)$/.test(name));
    for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
  }
}
