import { GrpoError } from '../errors.js';

/** A turn as `trajectories.jsonl` holds it. */
export interface LoggedTurn {
  role: string;
  text: string;
  start?: number;
  tokens?: number;
  finish?: string;
  calls?: { tool: string; args: unknown }[];
  malformed?: string[];
  observations?: string[];
  generate_ms?: number;
  tool_ms?: number;
}

/** An episode as `trajectories.jsonl` holds it. */
export interface LoggedEpisode {
  step: number;
  task: string;
  group: number;
  sample: number;
  ids: number[];
  mask: number[];
  logprobs: (number | null)[];
  turns: LoggedTurn[];
  reward: { value: number; parts: Record<string, number> } | null;
  advantage: number;
  finish: string;
  invalid: string | null;
  passed?: boolean | null;
  figures?: Record<string, number>;
}

/** Reads one line of a run's trajectories. @throws {GrpoError} RUN_INVALID */
export function parseEpisode(bytes: Buffer, where: string): LoggedEpisode {
  let episode: Partial<LoggedEpisode> | null;
  try {
    episode = JSON.parse(bytes.toString('utf8')) as Partial<LoggedEpisode> | null;
  } catch (error) {
    throw new GrpoError('RUN_INVALID', 'report', `${where} is not JSON`, { cause: error });
  }
  const { ids, mask, logprobs, turns } = episode ?? {};
  if ([ids, mask, logprobs, turns].every(Array.isArray)) return episode as LoggedEpisode;
  throw new GrpoError('RUN_INVALID', 'report', `${where} is no episode`);
}

/** Whether an episode passed; null where its environment has no verdict, or the episode is invalid. */
export function passedOf(episode: LoggedEpisode): boolean | null {
  if (episode.invalid) return null;
  if (typeof episode.passed === 'boolean') return episode.passed;
  const figure = episode.figures?.['pass'];
  return figure === undefined ? null : figure > 0;
}
