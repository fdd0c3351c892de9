import { join } from 'node:path';
import { replaceFile } from '../model/durable-write.js';
import { JsonLines } from '../run/index.js';
import type { LoggerContext, LogRow, RunLogger } from './types.js';

const lineOf = ({ step, time, scalars }: LogRow) => ({ step, time, ...scalars });

/**
 * `scalars.jsonl` in the run's folder: one flat object a step, every number of metrics and evaluations by the names that the
 * other loggers use. It is written anew from the run's records when a run goes on.
 */
export function jsonlLogger({ folder }: Pick<LoggerContext, 'folder'>): RunLogger {
  const lines = new JsonLines(join(folder, 'scalars.jsonl'));
  return {
    name: 'jsonl',
    open: async (rows) => {
      const text = rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join('');
      await replaceFile(lines.path, (handle) => handle.writeFile(text));
    },
    write: (row) => lines.append(lineOf(row)),
    close: async () => true,
  };
}
