import type { EpisodeFinish, EpisodeState } from '../environments/types.js';
import type { SessionRow } from '../policy/types.js';

/** How tokens are drawn in an episode. */
export interface Sampling {
  temperature: number;
  topP: number;
  topK: number;
  minP: number;
  /** New tokens of one turn at most. */
  maxNewTokens: number;
}

/** What happened in an episode beyond its text. */
export interface EpisodeCounters {
  /** Tool calls that were run. */
  calls: number;
  /** Calls that failed: unknown tool, wrong arguments, exception, timeout, or an error that the tool reported. */
  callErrors: number;
  /** Calls that could not be parsed. */
  malformed: number;
  /** Observations that were cut. */
  cutObservations: number;
  /** Turns that hit the token limit or the context. */
  truncatedTurns: number;
}

/** One finished episode. */
export interface Episode {
  state: EpisodeState;
  finish: EpisodeFinish;
  /** Why nothing can be said about it; it is then in no mean and no update. */
  invalid: string | undefined;
  /** ids, mask and sampler log-probs; undefined where the prompt could not be opened. */
  row: SessionRow | undefined;
  /** undefined for invalid episodes. */
  reward: { value: number; parts: Record<string, number> } | undefined;
  /** Numbers that the environment adds. */
  figures: Record<string, number>;
  counters: EpisodeCounters;
  /** Tokens that were sampled. */
  tokens: number;
  /** Mean probability mass cut by topP, topK, minP over the sampled tokens. */
  truncatedMass: number;
  weightsVersion: number;
  seconds: number;
}
