import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { GrpoError } from '../errors.js';

/** Integers of 64 bits as numbers, dates as text; null columns are left out, as JSON would leave them. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value as unknown[], plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== null && entry !== undefined);
  return Object.fromEntries(entries.map(([key, entry]) => [key, plain(entry)]));
}

/**
 * Rows of a Parquet file, one row group in memory at a time.
 *
 * @param wanted picks the columns to read of those that there are
 * @throws INVALID_TASKS where it is no Parquet file, IO_FAILED where it can't be read
 */
export async function* parquetRows(
  path: string,
  wanted: (columns: string[]) => string[],
): AsyncGenerator<Record<string, unknown>> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const columns = wanted(parquetSchema(metadata).children.map(({ element }) => element.name));
    let start = 0;
    for (const { num_rows } of metadata.row_groups) {
      const end = start + Number(num_rows);
      const rows = await parquetReadObjects({ file, metadata, columns, compressors, rowStart: start, rowEnd: end });
      for (const row of rows) yield plain(row) as Record<string, unknown>;
      start = end;
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== undefined) throw new GrpoError('IO_FAILED', 'tasks', `can't read ${path}: ${message}`, { cause });
    throw new GrpoError('INVALID_TASKS', 'tasks', `${path} can't be read as Parquet: ${message}`, { cause });
  }
}
