import { open } from 'node:fs/promises';
import { GrpoError } from '../errors.js';

/** A file of one JSON object a line that only grows. NaN and Infinity are written as null. */
export class JsonLines {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Writes whole lines in one call and syncs them to disk.
   *
   * @throws {GrpoError} IO_FAILED
   */
  async append(...objects: object[]): Promise<void> {
    try {
      const file = await open(this.path, 'a');
      try {
        await file.appendFile(objects.map((object) => `${JSON.stringify(object)}\n`).join(''));
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new GrpoError('IO_FAILED', 'run', `${this.path} cannot be written: ${reason}`, { cause: error });
    }
  }
}
