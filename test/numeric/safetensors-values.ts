import { readFileSync } from 'node:fs';

/** Reads every float32 tensor of a small safetensors file; independent of the package's own reader. */
export function readSafetensorsValues(path: string): Map<string, Float32Array> {
  const file = readFileSync(path);
  const headerBytes = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + headerBytes).toString()) as Record<
    string,
    { dtype: string; data_offsets: [number, number] }
  >;
  const values = new Map<string, Float32Array>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    if (entry.dtype !== 'F32') throw new Error(`${name} is ${entry.dtype}`);
    const [begin, end] = entry.data_offsets;
    const bytes = Uint8Array.from(file.subarray(8 + headerBytes + begin, 8 + headerBytes + end));
    values.set(name, new Float32Array(bytes.buffer));
  }
  return values;
}
