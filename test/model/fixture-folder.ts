import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { GrpoError, type ErrorCode } from '../../lib/errors.js';

const MODELS = fileURLToPath(new URL('../fixtures/models/', import.meta.url));
const made: string[] = [];

process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder that goes away with the process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-model-'));
  made.push(folder);
  return folder;
}

export const fixturePath = (name: string): string => join(MODELS, name);

/** A writable copy of a fixture, with changed fields of its config.json; null removes a field. */
export function copyModel(name: string, change: Record<string, unknown> = {}): string {
  const folder = temporaryFolder();
  cpSync(fixturePath(name), folder, { recursive: true });
  editJson(join(folder, 'config.json'), change);
  return folder;
}

/** Changes fields of a JSON file; undefined removes one. */
export function editJson(path: string, change: Record<string, unknown>): void {
  const value = { ...(JSON.parse(readFileSync(path, 'utf8')) as object), ...change };
  writeFileSync(path, JSON.stringify(value));
}

/** The promise must be rejected with a GrpoError of this code whose message matches. */
export async function rejects(promise: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  try {
    await promise;
  } catch (error) {
    assert.instance(error, GrpoError, String((error as Error).stack));
    assert.is((error as GrpoError).code, code, (error as Error).message);
    assert.match((error as Error).message, message);
    return;
  }
  assert.unreachable(`expected ${code} ${String(message)}`);
}

/** The call must throw a GrpoError of this code whose message matches. */
export async function throws(call: () => unknown, code: ErrorCode, message: RegExp): Promise<void> {
  return rejects(new Promise((resolve) => resolve(call())), code, message);
}

/** Bytes of a safetensors file with the given header object (or raw header text) and data length. */
export function safetensorsBytes(header: object | string, dataBytes: number): Buffer {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const bytes = Buffer.alloc(8 + json.length + dataBytes);
  bytes.writeBigUInt64LE(BigInt(json.length));
  json.copy(bytes, 8);
  return bytes;
}
