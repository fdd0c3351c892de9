import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { GrpoError } from '../errors.js';
import { checkKeys, ensure } from '../known-keys.js';
import { chooseTasks, type TaskChoice } from './choose-tasks.js';
import { fetchDataset, isHubDataset, type DatasetOptions } from './hub-dataset.js';
import { parquetRows } from './parquet.js';
import { columnsOf, recordToTask } from './record-to-task.js';
import type { CodeTask } from './types.js';

const OPTIONS = ['difficulty', 'passPercentage', 'shuffleSeed', 'take', 'signal', 'hubUrl', 'notice'];

/** What to load, and which of it. */
export interface LoadTasksOptions extends TaskChoice, DatasetOptions {}

const invalid = (message: string, cause?: unknown) =>
  new GrpoError('INVALID_TASKS', 'tasks', message, cause === undefined ? undefined : { cause });

/** Collects tasks and refuses an id that is there twice. */
class TaskList {
  readonly tasks: CodeTask[] = [];
  private readonly placeOf = new Map<string, string>();

  add(record: unknown, place: string): void {
    const task = recordToTask(record, place, this.tasks.length);
    const known = this.placeOf.get(task.id);
    if (known !== undefined) throw invalid(`${place}: the id '${task.id}' stands in ${known} already`);
    this.placeOf.set(task.id, place);
    this.tasks.push(task);
  }

  addLine(line: string, place: string): void {
    if (line.trim() === '') return;
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch (cause) {
      // A file that begins like this is one array or one object over many lines.
      const hint = /^\s*[[{]\s*$/.test(line)
        ? '; a whole record must stand in each line, without an array around them'
        : '';
      throw invalid(`${place}: not valid JSON: ${(cause as Error).message}${hint}`, cause);
    }
    this.add(record, place);
  }
}

async function addJsonLines(list: TaskList, file: string): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const lines = createInterface({ input: createReadStream(file, 'latin1'), crlfDelay: Infinity });
  let number = 0;
  for await (const line of lines) {
    number += 1;
    let text: string;
    try {
      // Read byte by byte, so that the line of a wrong byte can be named.
      text = decoder.decode(Buffer.from(line, 'latin1'));
    } catch (cause) {
      throw invalid(`${file}:${number}: not UTF-8 text: a JSONL or Parquet file is needed`, cause);
    }
    list.addLine(text, `${file}:${number}`);
  }
}

async function addFile(list: TaskList, file: string): Promise<void> {
  try {
    if (/\.parquet$/i.test(file)) {
      let row = 0;
      for await (const record of parquetRows(file, columnsOf)) list.add(record, `${file}, row ${++row}`);
    } else await addJsonLines(list, file);
  } catch (cause) {
    if (cause instanceof GrpoError) throw cause;
    throw new GrpoError('IO_FAILED', 'tasks', `can't read ${file}: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Tasks of a JSONL or Parquet file, or of a data set of the hub (`organisation/name`, `hub:organisation/name@revision:split`):
 * records of MBPP, HumanEval, KodCode, BigCodeBench, or plain ones with `prompt` and `test`.
 *
 * @throws INVALID_ARGUMENT on an unknown key; IO_FAILED where a file can't be read; INVALID_TASKS with file and line or row where a record is no task, an id is
 *   there twice, or no task is left; DOWNLOAD_FAILED, ABORTED for data sets of the hub
 * @example
 * const tasks = await loadTasks('examples/mbpp-sample.jsonl', { shuffleSeed: 42, take: 10 });
 */
export async function loadTasks(source: string, options: LoadTasksOptions = {}): Promise<CodeTask[]> {
  checkKeys('loadTasks', options, OPTIONS);
  ensure('loadTasks', typeof source === 'string' && source !== '', 'a file or a data set of the hub must be given');
  const { take } = options;
  const fits = take === undefined || (Number.isInteger(take) && take > 0);
  ensure('loadTasks', fits, `take must be a whole number of at least 1, but is ${String(take)}`);
  const isFile = await stat(source).then(
    (status) => status.isFile(),
    () => false,
  );
  const files = !isFile && isHubDataset(source) ? await fetchDataset(source, options) : [source];
  const list = new TaskList();
  for (const file of files) await addFile(list, file);
  if (list.tasks.length === 0) throw invalid(`${source} has no task: write one JSON object a line`);
  return chooseTasks(list.tasks, options, source);
}

/**
 * Tasks of JSONL text; `file` is what errors name.
 *
 * @throws INVALID_TASKS
 */
export function parseTasks(content: string, file: string): CodeTask[] {
  const list = new TaskList();
  content.split('\n').forEach((line, index) => list.addLine(line, `${file}:${index + 1}`));
  if (list.tasks.length === 0) throw invalid(`${file} has no task: write one JSON object a line`);
  return list.tasks;
}
