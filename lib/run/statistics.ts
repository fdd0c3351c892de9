import { mean } from '../algorithms/index.js';
import type { Episode } from '../rollout/index.js';

/** Share of episodes for which something holds; null for none. */
export const rate = (episodes: readonly Episode[], holds: (episode: Episode) => boolean): number | null =>
  episodes.length === 0 ? null : episodes.filter(holds).length / episodes.length;

/** Mean of numbers, null for none. */
export const meanOrNull = (values: readonly number[]): number | null => (values.length === 0 ? null : mean(values));

/** Whether a valid episode called a tool at least once (well-formed). */
export const called = (tool: string) => (episode: Episode) =>
  episode.state.turns.some((turn) => turn.calls.some((call) => call.tool === tool));

/**
 * Whether an episode passed: the environment's `pass` figure, else an outcome that is a boolean or carries `passed`.
 *
 * @returns undefined where the environment has no notion of passing
 */
export function passed(episode: Episode): boolean | undefined {
  const figure = episode.figures['pass'];
  if (figure !== undefined) return figure > 0;
  const { outcome } = episode.state;
  if (typeof outcome === 'boolean') return outcome;
  if (typeof outcome === 'object' && outcome !== null && 'passed' in outcome) return outcome.passed === true;
  return undefined;
}

/** Share of episodes that passed; one without a verdict did not. null where no episode has a verdict at all. */
export function passRate(episodes: readonly Episode[]): number | null {
  const verdicts = episodes.map(passed);
  return verdicts.every((verdict) => verdict === undefined) ? null : verdicts.filter(Boolean).length / verdicts.length;
}

/** How often each reason of invalid episodes occurred; numbers in reasons are kept, so equal ones add up. */
export function invalidReasons(episodes: readonly Episode[]): Record<string, number> {
  const reasons: Record<string, number> = {};
  for (const { invalid } of episodes) if (invalid !== undefined) reasons[invalid] = (reasons[invalid] ?? 0) + 1;
  return reasons;
}

/** Mean of every reward part over episodes; a part that an episode lacks counts 0. */
export function partMeans(episodes: readonly Episode[]): Record<string, number> {
  const names = [...new Set(episodes.flatMap((episode) => Object.keys(episode.reward?.parts ?? {})))].sort();
  return Object.fromEntries(
    names.map((name) => [name, mean(episodes.map((episode) => episode.reward?.parts[name] ?? 0))]),
  );
}

/** Search rates apart for tasks that say whether they need one (`needsSearch`); nothing where no task says it. */
export function searchRatesByNeed(episodes: readonly Episode[]): {
  search_rate_needed?: number | null;
  search_rate_unneeded?: number | null;
} {
  const told = episodes.filter((episode) => typeof episode.state.task['needsSearch'] === 'boolean');
  if (told.length === 0) return {};
  const of = (needs: boolean) =>
    rate(
      told.filter((episode) => episode.state.task['needsSearch'] === needs),
      called('search'),
    );
  return { search_rate_needed: of(true), search_rate_unneeded: of(false) };
}
