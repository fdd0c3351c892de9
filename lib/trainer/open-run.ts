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
import type { FoundCheckpoint, Reporter } from '../run/index.js';
import type { ResumedConfig } from './resume.js';
import type { RunState } from './state.js';

/** A run's folder that only this process works in. */
export interface OpenedRun {
  folder: string;
  state: RunState;
  /** Folder of the checkpoint to load; undefined for a start from the model's own weights. */
  checkpoint: string | undefined;
  release: () => Promise<void>;
}

/** What the data cursor counts in: the training tasks and their order. */
export const taskDigest = (tasks: readonly Task[]) =>
  createHash('sha256')
    .update(JSON.stringify(tasks.map((task) => task.id)))
    .digest('hex');

const freshState = (tasks: string): RunState => ({
  step: 0,
  cursor: { drawn: 0 },
  best: undefined,
  evaluated: undefined,
  sinceBest: 0,
  skipped: 0,
  logs: EMPTY_LOGS,
  tasks,
});

/** Makes and locks the folder of a new run. */
export async function openNewRun(config: TrainConfig, training: readonly Task[]): Promise<OpenedRun> {
  const folder = await createRunFolder(config.output ?? defaultRunFolder(config.model ?? 'policy', new Date()));
  const release = await lockRun(folder);
  return { folder, state: freshState(taskDigest(training)), checkpoint: undefined, release };
}

function checkTasks(found: FoundCheckpoint<RunState>, digest: string, resumed: ResumedConfig): void {
  if (found.record.state.tasks === digest || resumed.changed.length > 0) return;
  const message = 'the training tasks are not those of the run; give the same tasks, or change them with --override';
  throw new GrpoError('INVALID_CONFIG', 'resume', message);
}

/**
 * Locks the folder of a run that goes on, and finds where.
 *
 * @throws {GrpoError} RUN_LOCKED, RUN_INVALID, INVALID_CONFIG where the tasks are others
 */
export async function openOldRun(
  resumed: ResumedConfig,
  training: readonly Task[],
  reporter: Reporter,
): Promise<OpenedRun> {
  const { folder } = resumed;
  const release = await lockRun(folder);
  try {
    await removeLeftovers(folder);
    const digest = taskDigest(training);
    const found = await findCheckpoint<RunState>(folder, (message) => reporter.warning(message));
    if (found === undefined) {
      reporter.message(`${folder} has no checkpoint yet: starting at its first step`);
      return { folder, state: freshState(digest), checkpoint: undefined, release };
    }
    checkTasks(found, digest, resumed);
    const { state } = found.record;
    const over = resumed.config.steps <= state.step ? '; nothing is left to do (more with --steps N --override)' : '';
    reporter.message(`going on after step ${state.step} of ${resumed.config.steps}${over}`);
    return { folder, state: { ...state, tasks: digest }, checkpoint: found.folder, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Cuts logs and later checkpoints to where the run goes on; called when nothing else can fail any more. */
export async function cutToState({ folder, state, checkpoint }: OpenedRun): Promise<void> {
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
