import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { ModelFolder } from './folder.js';

/** Samples of each weight file, and their size: enough to tell two trainings of one architecture apart. */
const SAMPLES = 32;
const SAMPLE_BYTES = 16 * 1024;

/**
 * SHA-256 of a file, hexadecimal.
 *
 * @throws the file system's own error
 */
export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

async function addSamples(hash: Hash, path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(SAMPLE_BYTES);
    const last = Math.max(0, bytes - SAMPLE_BYTES);
    for (let i = 0; i < SAMPLES; i++) {
      const { bytesRead } = await handle.read(buffer, 0, SAMPLE_BYTES, Math.floor((last * i) / (SAMPLES - 1)));
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** Identity of a base model: its tensors' names and shapes, its files' sizes, and samples spread over them. */
export async function modelFingerprint(model: ModelFolder): Promise<string> {
  const hash = createHash('sha256');
  const tensors = Object.entries(model.tensors).map(([name, { dtype, shape, offset }]) => [name, dtype, shape, offset]);
  hash.update(JSON.stringify(tensors.sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1))));
  for (const { path, bytes } of model.files) {
    hash.update(`${bytes}`);
    await addSamples(hash, path, bytes);
  }
  return hash.digest('hex');
}
