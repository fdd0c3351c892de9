import { createHash } from 'node:crypto';
import { effectiveConfig } from '../config/index.js';
import type { TrainConfig } from '../config/index.js';
import type { Task } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import {
  configRecord,
  createRunFolder,
  cutLogs,
  defaultRunFolder,
  dropCheckpointsAfter,
  EMPTY_LOGS,
  findCheckpoint,
  lockRun,
  removeLeftovers,
  writeConfigFile,
} from '../run/index.js';
import type { LogMarks, Reporter } from '../run/index.js';
import type { RunState } from './state.js';

/** What every kind of run keeps in its checkpoints. */
export interface KeptState {
  step: number;
  /** Where the logs stand after it. */
  logs: LogMarks;
  /** Digest of what the data cursor counts in. */
  tasks: string;
}

/** A run's folder that only this process works in. */
export interface OpenedRun<State extends KeptState = RunState> {
  folder: string;
  state: State;
  /** Folder of the checkpoint to load; undefined for a start from the model's own weights. */
  checkpoint: string | undefined;
  release: () => Promise<void>;
}

/** What the data cursor counts in: the training tasks and their order. */
export const taskDigest = (tasks: readonly Task[]) =>
  createHash('sha256')
    .update(JSON.stringify(tasks.map((task) => task.id)))
    .digest('hex');

/** The state of a GRPO run before its first step. */
export const freshState = (tasks: readonly Task[]): RunState => ({
  step: 0,
  cursor: { drawn: 0 },
  best: undefined,
  evaluated: undefined,
  sinceBest: 0,
  skipped: 0,
  logs: EMPTY_LOGS,
  tasks: taskDigest(tasks),
});

/** Makes and locks the folder of a new run. */
export async function openNewRun<State extends KeptState>(
  config: { output?: string; model?: string },
  fresh: State,
): Promise<OpenedRun<State>> {
  const folder = await createRunFolder(config.output ?? defaultRunFolder(config.model ?? 'policy', new Date()));
  return { folder, state: fresh, checkpoint: undefined, release: await lockRun(folder) };
}

/**
 * Locks the folder of a run that goes on, and finds where.
 *
 * @param fresh where it begins when it was ended before its first checkpoint
 * @throws {GrpoError} RUN_LOCKED, RUN_INVALID, INVALID_CONFIG where the data are others
 */
export async function openOldRun<State extends KeptState>(
  resumed: { folder: string; changed: string[] },
  fresh: State,
  reporter: Reporter,
): Promise<OpenedRun<State>> {
  const { folder } = resumed;
  const release = await lockRun(folder);
  try {
    await removeLeftovers(folder);
    const found = await findCheckpoint<State>(folder, (message) => reporter.warning(message));
    if (found === undefined) {
      reporter.message(`${folder} has no checkpoint yet: starting at its first step`);
      return { folder, state: fresh, checkpoint: undefined, release };
    }
    const { state } = found.record;
    if (state.tasks !== fresh.tasks && resumed.changed.length === 0) {
      const message = 'the training tasks are not those of the run; give the same ones, or change them with --override';
      throw new GrpoError('INVALID_CONFIG', 'resume', message);
    }
    reporter.message(`going on after step ${state.step}`);
    return { folder, state: { ...state, tasks: fresh.tasks }, checkpoint: found.folder, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Cuts logs and later checkpoints to where the run goes on; called when nothing else can fail any more. */
export async function cutToState({ folder, state, checkpoint }: OpenedRun<KeptState>): Promise<void> {
  await cutLogs(folder, state.logs);
  await dropCheckpointsAfter(folder, checkpoint === undefined ? -1 : state.step);
}

/** Writes `config.json`. */
export async function writeRunConfig(
  folder: string,
  config: TrainConfig,
  extra: { maxTurns: number; tasks: object; modes: readonly string[] },
): Promise<void> {
  const { maxTurns, tasks, modes } = extra;
  const kept = { ...effectiveConfig(config), maxTurns, resume: undefined, override: undefined };
  await writeConfigFile(folder, configRecord(kept, { tasks, modes }));
}
