import type { EpisodeFinish, EpisodeState, Reward } from '../environments/types.js';
import { withDeadline } from './deadline.js';

/** Time that one reward has. */
export const REWARD_TIMEOUT_MS = 120_000;

/** The weighted sum of all rewards with its parts, or why there is none. */
export type ScoredEpisode = { value: number; parts: Record<string, number>; invalid?: undefined } | { invalid: string };

/**
 * Scores an episode. A reward that throws, takes too long, or gives no finite number makes the episode invalid: what could
 * not be computed is never 0.
 *
 * parts: a reward's own parts times its weight (prefixed with its name where there are several rewards).
 */
export async function scoreEpisode(
  rewards: readonly Reward[],
  state: EpisodeState,
  finish: EpisodeFinish,
  signal: AbortSignal,
): Promise<ScoredEpisode> {
  let value = 0;
  const parts: Record<string, number> = {};
  for (const reward of rewards) {
    const { task, turns, outcome, messages } = state;
    const settled = await withDeadline(
      (inner) => reward.score({ task, turns, outcome, messages, finish, signal: inner }),
      REWARD_TIMEOUT_MS,
      signal,
    );
    if (settled.kind === 'aborted') return { invalid: 'aborted' };
    if (settled.kind === 'timeout')
      return { invalid: `reward ${reward.name} gave no answer within ${REWARD_TIMEOUT_MS / 1000} s` };
    if (settled.kind === 'error') {
      const { error } = settled;
      return { invalid: `reward ${reward.name} failed: ${error instanceof Error ? error.message : String(error)}` };
    }
    const score = typeof settled.value === 'number' ? { value: settled.value } : settled.value;
    if ('invalid' in score) return { invalid: score.invalid };
    if (!Number.isFinite(score.value))
      return { invalid: `reward ${reward.name} gave ${score.value}, not a finite number` };
    const weight = reward.weight ?? 1;
    value += weight * score.value;
    const given = 'parts' in score ? score.parts : undefined;
    for (const [name, part] of Object.entries(given ?? { [reward.name]: score.value })) {
      parts[given && rewards.length > 1 ? `${reward.name}.${name}` : name] = weight * part;
    }
  }
  return { value, parts };
}
