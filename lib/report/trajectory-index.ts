import { GrpoError } from '../errors.js';
import type { GroupSummary } from './types.js';
import { readPart, trajectoryFiles } from './log-files.js';
import type { TrajectoryFiles } from './log-files.js';
import { parseEpisode, passedOf } from './trajectory-line.js';
import type { LoggedEpisode } from './trajectory-line.js';

/** What is kept of every episode: its figures, and where it stands. */
export interface EpisodeEntry {
  step: number;
  group: number;
  sample: number;
  task: string;
  reward: number | null;
  passed: boolean | null;
  invalid: boolean;
  /** Compressed part, from 1; the number after the last is the live file. */
  part: number;
  /** Byte of the uncompressed part at which its line begins. */
  offset: number;
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Share of passes among valid entries, those without a verdict included; null for none.
 *
 * @param isJudged the run has verdicts at all; null where it has none
 */
export function passShare(entries: readonly EpisodeEntry[], isJudged: boolean): number | null {
  if (!isJudged) return null;
  return mean(entries.filter((entry) => !entry.invalid).map((entry) => (entry.passed === true ? 1 : 0)));
}

/** Mean reward of valid entries; null for none. */
export const rewardMean = (entries: readonly EpisodeEntry[]): number | null =>
  mean(entries.flatMap((entry) => (entry.invalid || entry.reward === null ? [] : [entry.reward])));

function summarize(entries: readonly EpisodeEntry[], isJudged: boolean): GroupSummary {
  const { step, group, task } = entries[0] as EpisodeEntry;
  return {
    step,
    group,
    task,
    samples: entries.length,
    invalid: entries.filter((entry) => entry.invalid).length,
    rewardMean: rewardMean(entries),
    passRate: passShare(entries, isJudged),
  };
}

const keyOf = (entry: { step: number; group: number }) => `${entry.step}:${entry.group}`;

/**
 * Where every episode of a run stands in its logs. It reads line by line, keeps some numbers an episode, and reads on where it
 * stopped when the run has grown; single episodes are read when asked for.
 */
export class TrajectoryIndex {
  readonly #folder: string;
  #groups = new Map<string, EpisodeEntry[]>();
  #total = 0;
  #invalid = 0;
  #isJudged = false;
  /** Where the next line is to be read. */
  #at = { part: 1, offset: 0 };
  /** The line before that: what is no longer there was cut by a run that went on from a checkpoint. */
  #last: { part: number; offset: number; bytes: Buffer } | undefined;
  #scanning: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get episodes(): { total: number; invalid: number } {
    return { total: this.#total, invalid: this.#invalid };
  }

  /** Some episode has a verdict: one without has not passed then. */
  get isJudged(): boolean {
    return this.#isJudged;
  }

  /** Entries of every group, in the order of the log. */
  get groups(): readonly (readonly EpisodeEntry[])[] {
    return [...this.#groups.values()];
  }

  /** Every group in numbers, in the order of the log. */
  summaries(): GroupSummary[] {
    return [...this.#groups.values()].map((entries) => summarize(entries, this.#isJudged));
  }

  /** Reads what has come since the last call. @throws {GrpoError} RUN_INVALID for a line that is no JSON, IO_FAILED */
  async scan(): Promise<void> {
    this.#scanning ??= this.#scan().finally(() => (this.#scanning = undefined));
    return this.#scanning;
  }

  async #scan(): Promise<void> {
    try {
      let files = await trajectoryFiles(this.#folder);
      if (!(await this.#isContinued(files))) this.#reset();
      for (;;) {
        await this.#scanPart(files);
        // The live file may have moved into a part meanwhile.
        files = await trajectoryFiles(this.#folder);
        if (this.#at.part > files.parts) return;
        this.#at = { part: this.#at.part + 1, offset: 0 };
      }
    } catch (error) {
      if (error instanceof GrpoError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new GrpoError('IO_FAILED', 'report', `the trajectories of ${this.#folder} cannot be read: ${reason}`, {
        cause: error,
      });
    }
  }

  async #scanPart(files: TrajectoryFiles): Promise<void> {
    const { part, offset: from } = this.#at;
    if (part > files.parts && from >= files.liveBytes) return;
    for await (const { offset, bytes } of readPart(this.#folder, part, files, from)) {
      if (bytes.length > 0)
        this.#add(parseEpisode(bytes, `an episode at byte ${offset} of part ${part}`), part, offset);
      this.#at = { part, offset: offset + bytes.length + 1 };
      this.#last = { part, offset, bytes };
    }
    // A copy: a chunk of the stream would be held by it otherwise.
    if (this.#last) this.#last = { ...this.#last, bytes: Buffer.from(this.#last.bytes) };
  }

  #add(episode: LoggedEpisode, part: number, offset: number): void {
    const { step, group, sample, task } = episode;
    const invalid = Boolean(episode.invalid);
    const reward = episode.reward?.value ?? null;
    const entry = { step, group, sample, task, reward, passed: passedOf(episode), invalid, part, offset };
    const key = keyOf(entry);
    const entries = this.#groups.get(key);
    if (entries) entries.push(entry);
    else this.#groups.set(key, [entry]);
    this.#total++;
    if (invalid) this.#invalid++;
    if (entry.passed !== null) this.#isJudged = true;
  }

  async #isContinued(files: TrajectoryFiles): Promise<boolean> {
    const last = this.#last;
    if (last === undefined) return true;
    if (last.part > files.parts + 1) return false;
    if (last.part <= files.parts) return true;
    if (files.liveBytes < last.offset + last.bytes.length) return false;
    for await (const { bytes } of readPart(this.#folder, last.part, files, last.offset))
      return bytes.equals(last.bytes);
    return false;
  }

  #reset(): void {
    this.#groups = new Map();
    this.#total = 0;
    this.#invalid = 0;
    this.#isJudged = false;
    this.#at = { part: 1, offset: 0 };
    this.#last = undefined;
  }

  /**
   * The episodes of some groups, in the order in which they were asked for; every file is read once.
   *
   * @throws {GrpoError} RUN_INVALID where a group is not there (any more), IO_FAILED
   */
  async read(wanted: readonly { step: number; group: number }[]): Promise<LoggedEpisode[][]> {
    const files = await trajectoryFiles(this.#folder);
    const found = new Map<EpisodeEntry, LoggedEpisode>();
    const groups = wanted.map((place) => {
      const entries = this.#groups.get(keyOf(place));
      if (entries) return entries;
      throw new GrpoError('RUN_INVALID', 'report', `the run has no group ${place.group} in step ${place.step}`);
    });
    const all = groups.flat();
    for (const part of new Set(all.map((entry) => entry.part))) {
      const entries = all.filter((entry) => entry.part === part);
      await this.#readEntries(part, entries, files, found);
    }
    return groups.map((entries) => entries.map((entry) => found.get(entry) as LoggedEpisode));
  }

  async #readEntries(
    part: number,
    entries: readonly EpisodeEntry[],
    files: TrajectoryFiles,
    found: Map<EpisodeEntry, LoggedEpisode>,
  ): Promise<void> {
    const waiting = [...entries].sort((a, b) => a.offset - b.offset);
    while (waiting.length > 0) {
      const first = waiting[0] as EpisodeEntry;
      for await (const { offset, bytes } of readPart(this.#folder, part, files, first.offset)) {
        const next = waiting[0] as EpisodeEntry;
        if (offset > next.offset) break;
        if (offset < next.offset) continue;
        found.set(next, this.#checked(parseEpisode(bytes, `an episode at byte ${offset} of part ${part}`), next));
        waiting.shift();
        // In the live file it is quicker to begin again at the next one than to read what lies between.
        if (waiting.length === 0 || (part > files.parts && waiting[0]!.offset !== offset + bytes.length + 1)) break;
      }
      if (waiting[0] === first) throw this.#moved(first);
    }
  }

  #checked(episode: LoggedEpisode, entry: EpisodeEntry): LoggedEpisode {
    if (keyOf(episode) === keyOf(entry) && episode.sample === entry.sample) return episode;
    throw this.#moved(entry);
  }

  #moved({ step, group }: EpisodeEntry): GrpoError {
    const message = `the episodes of step ${step}, group ${group} are no longer where they were: the log was cut; look again`;
    return new GrpoError('RUN_INVALID', 'report', message);
  }
}
