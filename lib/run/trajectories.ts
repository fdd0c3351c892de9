import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Episode } from '../rollout/index.js';
import { JsonLines } from './json-lines.js';
import { passed } from './statistics.js';

const PART_BYTES = 2 ** 30;

/** float32 needs nine digits to come back as itself; NaN becomes null in JSON. */
const logprob = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(9)) : null);

/** Where an episode stands in its step. */
export interface EpisodePlace {
  step: number;
  /** Index of its group in the step. */
  group: number;
  sample: number;
  advantage: number;
}

/** One line of `trajectories.jsonl`. */
export function trajectory(episode: Episode, place: EpisodePlace): Record<string, unknown> {
  const { state, row } = episode;
  const prompt = state.messages.slice(
    0,
    Math.max(
      0,
      state.messages.findIndex((message) => message.role === 'assistant'),
    ),
  );
  return {
    step: place.step,
    task: state.task.id,
    group: place.group,
    sample: place.sample,
    ids: row ? Array.from(row.ids) : [],
    mask: row ? Array.from(row.mask) : [],
    logprobs: row ? Array.from(row.samplerLogprobs, logprob) : [],
    turns: [
      ...prompt.map(({ role, content }) => ({ role, text: content })),
      ...state.turns.map((turn) => ({
        role: 'assistant',
        text: turn.text,
        start: turn.start,
        tokens: turn.tokens,
        finish: turn.finishReason,
        calls: turn.calls,
        malformed: turn.malformed,
        observations: turn.observations,
        generate_ms: Math.round(turn.generateMs),
        tool_ms: Math.round(turn.toolMs),
      })),
    ],
    reward: episode.reward ?? null,
    advantage: place.advantage,
    finish: episode.finish,
    invalid: episode.invalid ?? null,
    passed: passed(episode) ?? null,
    figures: episode.figures,
    weights_version: episode.weightsVersion,
  };
}

/** `trajectories.jsonl`, which moves into numbered compressed parts when it has grown. */
export class TrajectoryLog {
  readonly #folder: string;
  readonly #partBytes: number;
  readonly #lines: JsonLines;

  constructor(folder: string, partBytes = PART_BYTES) {
    this.#folder = folder;
    this.#partBytes = partBytes;
    this.#lines = new JsonLines(join(folder, 'trajectories.jsonl'));
  }

  async append(episodes: Record<string, unknown>[]): Promise<void> {
    await this.#lines.append(...episodes);
    const { size } = await stat(this.#lines.path);
    if (size >= this.#partBytes) await this.#moveAway();
  }

  async #moveAway(): Promise<void> {
    const names = await readdir(this.#folder);
    const numbers = names.map((name) => Number(/^trajectories-(\d+)\.jsonl\.gz$/.exec(name)?.[1] ?? 0));
    const number = String(Math.max(0, ...numbers) + 1).padStart(4, '0');
    const target = join(this.#folder, `trajectories-${number}.jsonl.gz`);
    await pipeline(createReadStream(this.#lines.path), createGzip(), createWriteStream(`${target}.part`));
    await rename(`${target}.part`, target);
    await rm(this.#lines.path);
  }
}
