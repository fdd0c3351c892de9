import { createHash } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { GrpoError } from '../errors.js';
import type { Task } from '../environments/types.js';
import type { EvaluationMode } from '../run/index.js';
import type { Episode } from '../rollout/index.js';

/** Which episode of an evaluation. */
export interface EpisodePlace {
  weights: 'base' | 'adapter';
  mode: EvaluationMode;
  /** Id of the task. */
  task: string;
  sample: number;
}

type Kept = Omit<Episode, 'row' | 'state' | 'invalid' | 'reward'> & {
  invalid?: string;
  reward?: Episode['reward'];
  turns: Episode['state']['turns'];
  outcome: unknown;
};

const keyOf = ({ weights, mode, task, sample }: EpisodePlace): string => JSON.stringify([weights, mode, task, sample]);

/** What must be the same for kept episodes to count: everything that decides what an episode is. */
export function fingerprint(facts: unknown): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

type Line = { settings?: string; place?: EpisodePlace; episode?: Kept };

/** @throws RUN_INVALID where the line is none of such a file */
function parseLine(text: string, path: string, index: number): Line {
  let line: Line | null = null;
  try {
    line = JSON.parse(text) as Line | null;
  } catch {
    // said below
  }
  if (index === 0 ? typeof line?.settings === 'string' : line?.place && line.episode) return line!;
  const message =
    index === 0
      ? `${path} is no file of finished episodes; choose another --output`
      : `${path}:${index + 1} is no finished episode: remove that line, and its episode is run again`;
  throw new GrpoError('RUN_INVALID', 'evaluate', message);
}

/** Finished episodes of an evaluation, one JSON object a line, so that it can go on where it stopped. */
export class EpisodeLog {
  private readonly known = new Map<string, Kept>();
  private writing: Promise<void> = Promise.resolve();

  private constructor(readonly path: string) {}

  /**
   * Opens the log of an evaluation.
   *
   * @throws RUN_EXISTS where episodes are kept already and `resume` is false; INVALID_CONFIG where they are of an evaluation
   *   with other settings; RUN_INVALID where a line is damaged
   */
  static async open(path: string, settings: string, resume: boolean): Promise<EpisodeLog> {
    const log = new EpisodeLog(path);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new GrpoError('IO_FAILED', 'evaluate', `${path} cannot be read: ${error.message}`, { cause: error });
    });
    const lines = (text ?? '').split('\n').slice(0, -1);
    const records = lines.map((line, index) => parseLine(line, path, index));
    // An evaluation that failed before its first episode leaves nothing to lose.
    if (records.length < 2) lines.length = 0;
    if (lines.length > 0 && !resume) {
      const message = `${path} holds episodes of an earlier evaluation: go on with --resume, or choose another --output`;
      throw new GrpoError('RUN_EXISTS', 'evaluate', message);
    }
    if (lines.length === 0) {
      await log.write(() => writeFile(path, `${JSON.stringify({ settings })}\n`));
      return log;
    }
    if (records[0]!.settings !== settings) {
      const message = `${path} holds episodes of an evaluation with another model, other tasks or settings; choose another --output`;
      throw new GrpoError('INVALID_CONFIG', 'evaluate', message);
    }
    for (const { place, episode } of records.slice(1)) log.known.set(keyOf(place!), episode!);
    // A crash may have cut the last line: what follows must begin on a fresh one.
    await log.write(() => writeFile(path, lines.map((line) => `${line}\n`).join('')));
    return log;
  }

  /** Number of episodes that are kept. */
  get size(): number {
    return this.known.size;
  }

  /** A kept episode, with the task as it is now. */
  find(place: EpisodePlace, task: Task): Episode | undefined {
    const kept = this.known.get(keyOf(place));
    if (kept === undefined) return undefined;
    const { turns, outcome, ...rest } = kept;
    const state: Episode['state'] = { task, turns, messages: [], outcome, state: {}, purpose: 'eval' };
    return { ...rest, invalid: rest.invalid, reward: rest.reward, row: undefined, state };
  }

  /** Keeps a finished episode. An aborted one did not finish, and an invalid one is tried again. */
  add(place: EpisodePlace, episode: Episode): void {
    // One that was kept before stands in the file already.
    if (episode.invalid !== undefined || this.known.has(keyOf(place))) return;
    const { state, row: _row, ...rest } = episode;
    const kept: Kept = { ...rest, turns: state.turns, outcome: state.outcome };
    const line = `${JSON.stringify({ place, episode: kept })}\n`;
    this.writing = this.writing.then(() => this.write(() => appendFile(this.path, line)));
    // Reported by `flush`; unheard until then.
    this.writing.catch(() => undefined);
  }

  /** @throws IO_FAILED where an episode could not be written */
  async flush(): Promise<void> {
    await this.writing;
  }

  private async write(task: () => Promise<void>): Promise<void> {
    await task().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new GrpoError('IO_FAILED', 'evaluate', `${this.path} cannot be written: ${reason}`, { cause: error });
    });
  }
}
