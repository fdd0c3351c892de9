import { GrpoError } from '../errors.js';
import { replaceFile } from './durable-write.js';
import { DTYPE_BYTES, LENGTH_BYTES } from './safetensors.js';

/** One tensor to write; `data` may be made only when its turn comes. */
export interface TensorToWrite {
  name: string;
  dtype: string;
  shape: readonly number[];
  data: ArrayBufferView | (() => ArrayBufferView | Promise<ArrayBufferView>);
}

const toBytes = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function buildHeader(tensors: readonly TensorToWrite[], metadata: Record<string, string>, path: string) {
  // Widest elements first, as the reference writer does: then every tensor is aligned to its own element.
  const ordered = [...tensors].sort(
    (a, b) => DTYPE_BYTES[b.dtype]! - DTYPE_BYTES[a.dtype]! || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  const entries: [string, unknown][] = [['__metadata__', metadata]];
  let begin = 0;
  const sizes = ordered.map(({ name, dtype, shape }, i) => {
    if (name === ordered[i - 1]?.name || name === '__metadata__') {
      throw new GrpoError('INTERNAL', 'save', `${path}: two tensors are named "${name}"`);
    }
    const bytes = shape.reduce((product, size) => product * size, DTYPE_BYTES[dtype]!);
    entries.push([name, { dtype, shape, data_offsets: [begin, begin + bytes] }]);
    begin += bytes;
    return bytes;
  });
  const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const header = Buffer.alloc(LENGTH_BYTES + Math.ceil(json.length / 8) * 8, ' ');
  header.writeBigUInt64LE(BigInt(header.length - LENGTH_BYTES));
  json.copy(header, LENGTH_BYTES);
  return { ordered, sizes, header };
}

/**
 * Writes a safetensors file under a temporary name, syncs it and renames it: readers see the old file or the whole new one.
 *
 * @throws GrpoError IO_FAILED when the disk refuses (full, read-only, missing folder).
 */
export async function writeSafetensors(
  path: string,
  tensors: readonly TensorToWrite[],
  metadata: Record<string, string> = { format: 'pt' },
): Promise<void> {
  const { ordered, sizes, header } = buildHeader(tensors, metadata, path);
  await replaceFile(path, async (handle) => {
    await handle.writeFile(header);
    for (const [i, tensor] of ordered.entries()) {
      const bytes = toBytes(typeof tensor.data === 'function' ? await tensor.data() : tensor.data);
      if (bytes.byteLength !== sizes[i]) {
        const message = `${path}: tensor "${tensor.name}" has ${bytes.byteLength} bytes, its shape needs ${sizes[i]}`;
        throw new GrpoError('INTERNAL', 'save', message);
      }
      await handle.writeFile(bytes);
    }
  });
}
