import { createWriteStream } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import { GrpoError } from '../errors.js';

// What work on the CPU needs of a torch wheel. A CUDA wheel's own libraries, 1 GB and more, are left out.
const NEEDED = [
  /^torch\/lib\/(libc10|libtorch|libtorch_cpu)\.so$/,
  /^torch\/lib\/libgomp[^/]*$/,
  /^torch\/include\//,
  /^torch\/version\.py$/,
  /^torch-[^/]*\.dist-info\/(METADATA|licenses\/.*)$/,
  /^nvidia\/cu\d+\/lib\/lib(cudart|cupti)\.so\.\d+$/,
  /^nvidia_[^/]*\.dist-info\/(METADATA|licenses\/.*|License\.txt)$/,
];

/**
 * Unpacks the entries of a wheel that the core needs into a folder, without Python.
 *
 * @throws LIBTORCH_MISSING when the file is no wheel or is damaged.
 */
export async function unpackWheel(
  wheel: string,
  folder: string,
  onProgress?: (doneEntries: number, totalEntries: number) => void,
): Promise<void> {
  await withWheel(wheel, async (zip) => {
    for await (const entry of zip.eachEntry()) {
      onProgress?.(zip.entriesRead, zip.entryCount);
      if (entry.fileName.endsWith('/') || !NEEDED.some((pattern) => pattern.test(entry.fileName))) continue;
      const path = join(folder, entry.fileName);
      await mkdir(dirname(path), { recursive: true });
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path));
      if (/\.so(\.|$)/.test(path)) await chmod(path, 0o755);
    }
  });
}

/** The text of the first entry of a wheel whose name matches; undefined when there is none. */
export async function readWheelEntry(wheel: string, pattern: RegExp): Promise<string | undefined> {
  return withWheel(wheel, async (zip) => {
    for await (const entry of zip.eachEntry()) {
      if (pattern.test(entry.fileName)) return text(await zip.openReadStreamPromise(entry));
    }
    return undefined;
  });
}

async function withWheel<T>(wheel: string, use: (zip: yauzl.ZipFile) => Promise<T>): Promise<T> {
  let zip: yauzl.ZipFile | undefined;
  try {
    zip = await yauzl.openPromise(wheel);
    return await use(zip);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GrpoError('LIBTORCH_MISSING', 'unpack', `${wheel} does not unpack: ${reason}`, { cause: error });
  } finally {
    zip?.close();
  }
}
