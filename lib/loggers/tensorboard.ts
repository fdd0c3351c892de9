import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { EventFile, lastLoggedStep, scalarValue, textValue } from './event-file.js';
import type { LoggerContext, LogRow, LogSample, RunLogger } from './types.js';

const FENCE = '~~~~~~';

/** Samples as Markdown for the text page. */
function samplesText(samples: readonly LogSample[]): string {
  return samples
    .map(({ task, reward, text }) => `**${task}**, reward ${reward ?? 'none'}\n\n${FENCE}\n${text}\n${FENCE}`)
    .join('\n\n---\n\n');
}

/**
 * Event files in `<run>/tensorboard`. A run that goes on begins a new file, which tells TensorBoard to forget the steps that
 * are done again.
 */
export function tensorboardLogger({ folder }: Pick<LoggerContext, 'folder'>): RunLogger {
  const target = join(folder, 'tensorboard');
  let file: EventFile | undefined;
  const write = async ({ step, time, scalars, samples }: LogRow) => {
    const values = Object.entries(scalars).map(([tag, value]) => scalarValue(tag, value));
    if (samples.length > 0) values.push(textValue('samples', samplesText(samples)));
    await file?.write(step, time, values);
  };
  return {
    name: 'tensorboard',
    open: async (rows) => {
      await mkdir(target, { recursive: true });
      const logged = await lastLoggedStep(target);
      // The step after the records' last is written again: its evaluation may come now.
      const from = logged === undefined ? undefined : Math.min(logged, (rows.at(-1)?.step ?? -1) + 1);
      file = await EventFile.create(target, from);
      for (const row of rows) if (from === undefined || row.step >= from) await write(row);
    },
    write,
    close: async () => {
      await file?.close();
      file = undefined;
      return true;
    },
  };
}
