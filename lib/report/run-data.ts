import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { GrpoError } from '../errors.js';
import { readRun } from '../run/index.js';
import type { RunLogs } from '../run/index.js';
import { Tokenizer } from '../tokenizer/index.js';
import type { TokenBytes } from '../tokenizer/types.js';
import { curvesOf } from './curves.js';
import { resultOf } from './result-lines.js';
import { taskRows } from './task-rows.js';
import type { TrajectoryIndex } from './trajectory-index.js';
import type { RunData, RunHead, TaskRow } from './types.js';

type Tree = Record<string, unknown>;

/** Entries of a curve, and lines of the table of tasks, that a page holds at most. */
export const MOST_ENTRIES = 3_000;
const MOST_TASKS = 3_000;
const MOST_EVALUATIONS = 600;
const MOST_CONFIG_CHARACTERS = 100_000;

/** `config.json` of a run. */
export interface RunConfig {
  config: Tree;
  workingFolder: string;
  text: string;
}

/** Reads a run's `config.json`. @throws {GrpoError} RUN_INVALID */
export async function readRunConfig(folder: string): Promise<RunConfig> {
  const path = join(folder, 'config.json');
  try {
    const text = await readFile(path, 'utf8');
    const record = JSON.parse(text) as { config?: Tree; workingFolder?: string } | null;
    return { config: record?.config ?? {}, workingFolder: record?.workingFolder ?? process.cwd(), text };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${folder} is no run folder: config.json cannot be read: ${reason}`;
    throw new GrpoError('RUN_INVALID', 'report', message, { cause: error });
  }
}

/** Bytes of the run's tokens, or why they are not known. */
export async function runTokens({ config, workingFolder }: RunConfig): Promise<TokenBytes | string> {
  const { model } = config;
  if (typeof model !== 'string') return 'the run names no model';
  try {
    const folder = resolve(workingFolder, model);
    const tokenizer = await Tokenizer.loadIfPresent(folder).catch(() => undefined);
    return (tokenizer ?? (await Tokenizer.load(model))).tokenBytes();
  } catch (error) {
    return `the tokenizer of ${model} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const total = (logs: RunLogs, field: 'seconds' | 'tokens_sampled') =>
  logs.metrics.reduce((sum, line) => sum + (line[field] ?? 0), 0);

/** What a run is. */
export function headOf(folder: string, { config, text }: RunConfig, logs: RunLogs): RunHead {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    name: basename(resolve(folder)),
    model: textOf(config['model']) && basename(String(config['model']).replace(/[/\\]+$/, '')),
    environment: textOf(config['environment']),
    stepsPlanned: typeof config['steps'] === 'number' ? config['steps'] : null,
    stepsDone: logs.metrics.at(-1)?.step ?? 0,
    seconds: total(logs, 'seconds'),
    tokensSampled: total(logs, 'tokens_sampled'),
    config: text.slice(0, MOST_CONFIG_CHARACTERS),
  };
}

const change = (row: TaskRow) => Math.abs((row.rewardLate ?? 0) - (row.rewardEarly ?? 0));

function notesOf(logs: RunLogs, data: Omit<RunData, 'notes'>): string[] {
  const { metrics, evaluations } = logs;
  const notes: string[] = [];
  if (metrics.length === 0) notes.push('No step is logged yet.');
  if (metrics.length > 0 && !('reward_mean' in metrics[0]!)) {
    notes.push('A run of sft: it has losses, and no episodes.');
  }
  if (metrics.length === 1) notes.push('One step is logged: curves are single points.');
  if (evaluations.length === 0) notes.push('No evaluation is logged, so there is no before and after.');
  else if (evaluations.every((record) => record.step === 0)) notes.push('Nothing was evaluated after training yet.');
  const hasRewards = metrics.some((line) => typeof line.reward_mean === 'number');
  if (hasRewards && metrics.every((line) => (line.pass_rate ?? null) === null)) {
    notes.push('The environment has no verdict (pass or fail): rewards take the place of pass rates.');
  }
  const { stepsPerEntry } = data.metrics;
  if (stepsPerEntry > 1) notes.push(`The run is long: each point of a curve is the mean of ${stepsPerEntry} steps.`);
  if (data.evaluations.length < evaluations.length) {
    notes.push(`${data.evaluations.length} of ${evaluations.length} evaluations are shown, evenly chosen.`);
  }
  if (data.tasksLeftOut > 0) {
    notes.push(`The table holds the ${data.tasks.length} tasks that changed most; ${data.tasksLeftOut} are left out.`);
  }
  const skipped = metrics.filter((line) => line.skipped !== null && line.skipped !== undefined).length;
  if (skipped > 0) notes.push(`${skipped} of ${metrics.length} steps had no update.`);
  if (data.episodes.invalid > 0) {
    notes.push(`${data.episodes.invalid} of ${data.episodes.total} episodes are invalid and in no mean.`);
  }
  return notes;
}

/** The first and last evaluations stay, and others evenly between them. */
function someOf<T>(records: readonly T[], most: number): T[] {
  if (records.length <= most) return [...records];
  const half = 16;
  const middle = records.slice(half, -half);
  const wanted = most - 2 * half;
  const even = Array.from({ length: wanted }, (_, i) => middle[Math.floor((i * middle.length) / wanted)] as T);
  return [...records.slice(0, half), ...even, ...records.slice(-half)];
}

/** Everything of a run's page except its episodes; `index` must have been scanned. @throws {GrpoError} RUN_INVALID, IO_FAILED */
export async function runData(folder: string, index: TrajectoryIndex): Promise<RunData> {
  const logs = await readRun(folder);
  const rows = taskRows(index.groups, index.isJudged);
  const tasks = rows.length <= MOST_TASKS ? rows : rows.sort((a, b) => change(b) - change(a)).slice(0, MOST_TASKS);
  const data = {
    run: headOf(folder, await readRunConfig(folder), logs),
    metrics: curvesOf(logs.metrics, MOST_ENTRIES),
    evaluations: someOf(logs.evaluations, MOST_EVALUATIONS),
    result: resultOf(logs.evaluations),
    alarms: logs.metrics
      .filter((line) => (line.alarms?.length ?? 0) > 0)
      .slice(-MOST_ENTRIES)
      .map(({ step, alarms }) => ({ step, names: alarms })),
    tasks,
    tasksLeftOut: rows.length - tasks.length,
    episodes: index.episodes,
  };
  return { ...data, notes: notesOf(logs, data) };
}
