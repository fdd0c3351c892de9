import { join } from 'node:path';
import { pruneCheckpoints, refreshCheckpoint, replaceFolder, writeCheckpoint } from '../run/index.js';
import type { TrainablePolicy } from './state.js';

/** Below this a checkpoint is written after every step. */
const SMALL_BYTES = 200e6;
const LARGE_EVERY = 20;

/** What is saved, and where. */
export interface SavedRun {
  /** The run's folder. */
  folder: string;
  policy: TrainablePolicy;
  config: { saveEvery?: number; keepLast: number; train: 'lora' | 'full' };
  /** The effective configuration, kept with every checkpoint. */
  stored: Record<string, unknown>;
}

/** Writes checkpoints when they are due, and knows which step the last one holds. */
export class Saving<State extends { step: number }> {
  readonly run: SavedRun;
  /** Step whose checkpoint is on disk. */
  #saved: number | undefined;
  #bytes = 0;

  constructor(run: SavedRun, resumedAt: number | undefined) {
    this.run = run;
    this.#saved = resumedAt;
  }

  #isDue(state: State): boolean {
    if (this.#saved === undefined) return true;
    const every = this.run.config.saveEvery ?? (this.#bytes < SMALL_BYTES ? 1 : LARGE_EVERY);
    return state.step - this.#saved >= every;
  }

  /** After a step: a checkpoint where one is due. */
  async afterStep(state: State): Promise<void> {
    if (this.#isDue(state)) await this.save(state);
  }

  /** Brings the present state to disk, whether or not a checkpoint is due. @throws {GrpoError} IO_FAILED */
  async save(state: State): Promise<void> {
    const { folder, policy, config, stored } = this.run;
    // The weights are there already where only the evaluation came since.
    if (this.#saved === state.step && (await refreshCheckpoint(folder, state.step, state))) return;
    this.#bytes = await writeCheckpoint(folder, { step: state.step, state, config: stored }, (temporary) =>
      policy.saveCheckpoint(temporary),
    );
    this.#saved = state.step;
    await pruneCheckpoints(folder, config.keepLast);
  }

  /** After an evaluation: its results belong to the checkpoint of the same step. */
  async afterEvaluation(state: State): Promise<void> {
    if (this.#saved === state.step || this.#isDue(state)) await this.save(state);
  }

  /** The end of a run: a checkpoint of the last step, and the adapter by itself. */
  async finish(state: State): Promise<void> {
    await this.save(state);
    await saveWeights(this.run, 'adapter');
  }
}

/** The trained weights by themselves, as `adapter/` or `best/`: a PEFT folder, or a whole model with train full. */
export async function saveWeights(
  { config, folder, policy }: Pick<SavedRun, 'folder' | 'policy'> & { config: { train: 'lora' | 'full' } },
  name: 'adapter' | 'best',
): Promise<void> {
  await replaceFolder(join(folder, name), (temporary) =>
    config.train === 'full' ? policy.exportMerged(temporary) : policy.saveAdapter(temporary),
  );
}
