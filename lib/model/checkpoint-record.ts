import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { replaceFile } from './durable-write.js';
import { fileDigest } from './fingerprint.js';
import { isJsonObject } from './json-fields.js';

/** The file that makes a folder a checkpoint; written last. */
export const CHECKPOINT_RECORD = 'checkpoint.json';
export const OPTIMIZER_FILE = 'optimizer.safetensors';
/** All trained weights of train: 'full'. */
export const WEIGHTS_FILE = 'model.safetensors';
/** PEFT folders of what is trained and of what KL pulls to. */
export const ADAPTER_FOLDER = 'adapter';
export const REFERENCE_FOLDER = 'reference';

const FORMAT = 'grpo-native checkpoint';
const FORMAT_VERSION = 1;

/** What a checkpoint says about itself; the numbers are in the files beside it. */
export interface CheckpointRecord {
  /** Base model as its user named it, and what identifies its weights. */
  model: { name: string; fingerprint: string };
  train: 'lora' | 'full';
  dtype: 'float32' | 'bfloat16';
  reference: 'start' | 'base';
  seed: number;
  strict: boolean;
  support: 'tokenizer' | 'all';
  maxContext: number;
  lora: { rank: number; alpha: number; dropout: number; rankStabilised: boolean; targetModules: string[] } | null;
  /** Whether KL pulls to an adapter of its own (`reference/`) and not to the base. */
  hasReference: boolean;
  /** generate calls without a seed so far: the generator's state. */
  requests: number;
  /** Optimizer steps taken; dropout masks follow from them. */
  optimizerSteps: number;
  weightsVersion: number;
  /** Text files of the caller. */
  extraFiles: string[];
}

interface StoredRecord extends CheckpointRecord {
  format: typeof FORMAT;
  formatVersion: number;
  /** Path in the folder -> size and SHA-256. */
  files: Record<string, { bytes: number; sha256: string }>;
  /** SHA-256 of this record without this field. */
  digest: string;
}

/** A checkpoint whose every file was found as it was written. */
export interface Checkpoint {
  folder: string;
  record: CheckpointRecord;
  /** Content of the caller's text files by name. */
  files: Record<string, string>;
}

const invalid = (message: string, cause?: unknown) => new GrpoError('INVALID_CHECKPOINT', 'load', message, { cause });

const digestOf = (record: object): string => createHash('sha256').update(JSON.stringify(record)).digest('hex');

/**
 * Writes the record of a checkpoint whose other files are there, with their sizes and digests.
 *
 * @param paths files of the folder, relative to it
 * @throws GrpoError IO_FAILED
 */
export async function writeCheckpointRecord(
  folder: string,
  record: CheckpointRecord,
  paths: readonly string[],
): Promise<void> {
  const files: StoredRecord['files'] = {};
  for (const path of paths) {
    const { size: bytes } = await stat(join(folder, path));
    files[path] = { bytes, sha256: await fileDigest(join(folder, path)) };
  }
  const body = { format: FORMAT, formatVersion: FORMAT_VERSION, ...record, files };
  const text = `${JSON.stringify({ ...body, digest: digestOf(body) }, null, 2)}\n`;
  await replaceFile(join(folder, CHECKPOINT_RECORD), (handle) => handle.writeFile(text));
}

async function readRecord(path: string): Promise<StoredRecord> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw invalid(
      `${path} cannot be read (${(cause as Error).message}); name a folder that saveCheckpoint wrote`,
      cause,
    );
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid(`${path} is cut or edited: it is not valid JSON; resume from another checkpoint`, cause);
  }
  if (!isJsonObject(value) || value.format !== FORMAT) {
    throw invalid(`${path} is no checkpoint of grpo-native; name a folder that saveCheckpoint wrote`);
  }
  if (value.formatVersion !== FORMAT_VERSION) {
    const found = JSON.stringify(value.formatVersion);
    throw invalid(
      `${path} has format version ${found}, this version reads ${FORMAT_VERSION}; use the version that wrote it`,
    );
  }
  const { digest, ...body } = value;
  if (digest !== digestOf(body)) {
    throw invalid(`${path} was edited: its digest does not fit; resume from another checkpoint`);
  }
  return value as unknown as StoredRecord;
}

async function checkFile(path: string, wanted: { bytes: number; sha256: string }): Promise<void> {
  const status = await stat(path).catch((cause: unknown) => {
    throw invalid(`${path} is missing (${(cause as Error).message}); resume from another checkpoint`, cause);
  });
  if (status.size !== wanted.bytes) {
    throw invalid(`${path} has ${status.size} bytes, it was written with ${wanted.bytes}: it was cut or replaced`);
  }
  if ((await fileDigest(path)) !== wanted.sha256) {
    throw invalid(
      `${path} is not as it was written: it was edited or the disk damaged it; resume from another checkpoint`,
    );
  }
}

/**
 * Reads a folder that `policy.saveCheckpoint` wrote, and checks every file in it against size and digest.
 *
 * @throws GrpoError INVALID_CHECKPOINT naming the file that is missing, cut, edited or of another program
 * @example
 * const { record, files } = await readCheckpoint('runs/mine/checkpoints/step-20');
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const stored = await readRecord(join(folder, CHECKPOINT_RECORD));
  for (const [path, wanted] of Object.entries(stored.files)) await checkFile(join(folder, path), wanted);
  const files: Record<string, string> = {};
  for (const name of stored.extraFiles) files[name] = await readFile(join(folder, name), 'utf8');
  return { folder, record: stored, files };
}
