import type { Episode } from '../rollout/index.js';
import type { LogSample } from './types.js';

const MOST_CHARACTERS = 4000;

function textOf({ state }: Episode): string {
  const parts = state.turns.flatMap(({ text, observations }) => [text, ...observations]);
  const text = parts.join('\n\n');
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\n[…]` : text;
}

/** The best and the worst valid episode of a step's first group. */
export function samplesOf(groups: readonly (readonly Episode[])[]): LogSample[] {
  const valid = (groups[0] ?? []).filter(({ invalid }) => invalid === undefined);
  const sorted = [...valid].sort((left, right) => (right.reward?.value ?? 0) - (left.reward?.value ?? 0));
  const chosen = [...new Set([sorted[0], sorted.at(-1)])].filter((episode) => episode !== undefined);
  return chosen.map((episode) => ({
    task: episode.state.task.id,
    reward: episode.reward?.value ?? null,
    text: textOf(episode),
  }));
}
