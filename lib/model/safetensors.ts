import { open, type FileHandle } from 'node:fs/promises';
import type { NativeTensor } from '../addon-types.js';
import { GrpoError, type ErrorCode } from '../errors.js';
import { isJsonObject } from './json-fields.js';

/** Bytes of one element by safetensors dtype name. */
// prettier-ignore
export const DTYPE_BYTES: Readonly<Record<string, number>> = {
  BOOL: 1, U8: 1, I8: 1, F8_E4M3: 1, F8_E5M2: 1, F8_E8M0: 1, F16: 2, BF16: 2, I16: 2, U16: 2,
  F32: 4, I32: 4, U32: 4, F64: 8, I64: 8, U64: 8,
};

/** Bytes before the header: its length, little endian. */
export const LENGTH_BYTES = 8;
/** The format's own limit on a header. */
const MAX_HEADER_BYTES = 100_000_000;

/** What the header of one safetensors file says. */
export interface SafetensorsFile {
  path: string;
  /** Size of the file when it was read. */
  bytes: number;
  metadata: Record<string, string>;
  /** By name; offsets are absolute in the file. */
  tensors: Map<string, NativeTensor>;
}

/** Which index the file gets in {@link NativeTensor.file}, and under which code its faults are reported. */
export interface HeaderOptions {
  file?: number;
  /** @default 'INVALID_MODEL' */
  code?: ErrorCode;
}

async function readHeaderText(handle: FileHandle, bytes: number, fault: (why: string) => GrpoError) {
  if (bytes < LENGTH_BYTES) throw fault(`is cut: ${bytes} bytes, too short for a header length`);
  const prefix = Buffer.alloc(LENGTH_BYTES);
  await handle.read(prefix, 0, LENGTH_BYTES, 0);
  const length = prefix.readBigUInt64LE();
  if (length > BigInt(MAX_HEADER_BYTES)) {
    throw fault(`is no safetensors file: its header length is ${length}, the format allows ${MAX_HEADER_BYTES}`);
  }
  const headerBytes = Number(length);
  if (LENGTH_BYTES + headerBytes > bytes) {
    throw fault(`is cut: its header needs ${LENGTH_BYTES + headerBytes} bytes, the file has ${bytes}`);
  }
  const header = Buffer.alloc(headerBytes);
  await handle.read(header, 0, headerBytes, LENGTH_BYTES);
  return { text: header.toString('utf8'), dataStart: LENGTH_BYTES + headerBytes };
}

function parseEntry(name: string, entry: unknown, fault: (why: string) => GrpoError) {
  const { dtype, shape, data_offsets: offsets } = isJsonObject(entry) ? entry : {};
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  if (typeof dtype !== 'string' || !Object.hasOwn(DTYPE_BYTES, dtype)) {
    throw fault(`tensor "${name}" has the unknown dtype ${JSON.stringify(dtype)}`);
  }
  if (!Array.isArray(shape) || !shape.every(isCount)) throw fault(`tensor "${name}" has no valid shape`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    throw fault(`tensor "${name}" has no valid data_offsets`);
  }
  const [begin, end] = offsets as [number, number];
  const expected = shape.reduce((product, size) => product * size, DTYPE_BYTES[dtype]!);
  if (end - begin !== expected) {
    throw fault(`tensor "${name}" (${dtype}, shape [${shape.join(', ')}]) needs ${expected} bytes, has ${end - begin}`);
  }
  return { name, dtype, shape: shape, begin, end };
}

/**
 * Reads and checks the header of one safetensors file; no weight is read.
 *
 * @throws GrpoError with `options.code` when the file is missing, cut, no safetensors file or inconsistent.
 */
export async function readSafetensors(path: string, options: HeaderOptions = {}): Promise<SafetensorsFile> {
  const { file = 0, code = 'INVALID_MODEL' } = options;
  const fault = (why: string) => new GrpoError(code, 'load', `${path}: ${why}; fetch or save the file again`);
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw new GrpoError(code, 'load', `${path} cannot be read (${(cause as Error).message})`, { cause });
  });
  try {
    const { size: bytes } = await handle.stat();
    const { text, dataStart } = await readHeaderText(handle, bytes, fault);
    let header: unknown;
    try {
      header = JSON.parse(text);
    } catch {
      throw fault('its header is not valid JSON');
    }
    if (!isJsonObject(header)) throw fault('its header is not a JSON object');
    const { __metadata__: metadata = {}, ...entries } = header;
    if (!isJsonObject(metadata) || !Object.values(metadata).every((value) => typeof value === 'string')) {
      throw fault('its __metadata__ must map strings to strings');
    }
    const parsed = Object.entries(entries).map(([name, entry]) => parseEntry(name, entry, fault));
    checkLayout(parsed, bytes - dataStart, fault);
    const tensors = parsed.map(({ name, dtype, shape, begin, end }): [string, NativeTensor] => [
      name,
      { file, dtype, shape, offset: dataStart + begin, byteLength: end - begin },
    ]);
    return { path, bytes, metadata: metadata as Record<string, string>, tensors: new Map(tensors) };
  } finally {
    await handle.close();
  }
}

/** The format wants the data to be covered exactly once, without a hole: a name given twice leaves one. */
function checkLayout(
  entries: { name: string; begin: number; end: number }[],
  dataBytes: number,
  fault: (why: string) => GrpoError,
): void {
  let covered = 0;
  for (const { name, begin, end } of [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (end > dataBytes) throw fault(`is cut: tensor "${name}" ends at byte ${end} of ${dataBytes} data bytes`);
    if (begin < covered) throw fault(`tensor "${name}" overlaps the tensor before it`);
    if (begin > covered) throw fault(`bytes ${covered} to ${begin}, before tensor "${name}", belong to no tensor`);
    covered = end;
  }
  if (covered !== dataBytes) throw fault(`has ${dataBytes - covered} bytes after its last tensor`);
}
