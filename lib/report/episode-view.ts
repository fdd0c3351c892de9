import type { TokenBytes } from '../tokenizer/types.js';
import { rowSegments, shortened } from './token-pieces.js';
import type { RowLimits } from './token-pieces.js';
import { passedOf } from './trajectory-line.js';
import type { LoggedEpisode, LoggedTurn } from './trajectory-line.js';
import type { EpisodeView, GroupSummary, GroupView, Segment, TurnView } from './types.js';

/** What the page embeds of one stretch of text; a page that is served shows more. */
export const EMBEDDED_LIMITS: RowLimits = { characters: 6_000, pieces: 1_500, segments: 200 };
/** For groups that would take too much of the page. */
export const TIGHT_LIMITS: RowLimits = { characters: 800, pieces: 200, segments: 40 };
export const SERVED_LIMITS: RowLimits = { characters: 200_000, pieces: 50_000, segments: 5_000 };

const ellipsis = (text: string, { characters }: RowLimits) => {
  const short = shortened(text, characters);
  return short.cut === undefined ? short.text : `${short.text} … (${short.cut} characters left out)`;
};

function turnView(turn: LoggedTurn, row: readonly Segment[], limits: RowLimits): TurnView {
  const short = (text: string) => ellipsis(String(text), limits);
  if (turn.role !== 'assistant' || turn.start === undefined) return { role: turn.role, text: short(turn.text) };
  const isShown = row.some((segment) => segment.sampled && segment.start === turn.start);
  return {
    role: turn.role,
    ...(isShown ? {} : { text: short(turn.text) }),
    start: turn.start,
    tokens: turn.tokens,
    finish: turn.finish,
    calls: (turn.calls ?? []).map(({ tool, args }) => ({ tool, args: short(JSON.stringify(args) ?? '') })),
    malformed: (turn.malformed ?? []).map(short),
    observations: (turn.observations ?? []).map(short),
    generateMs: turn.generate_ms,
    toolMs: turn.tool_ms,
  };
}

const count = (mask: readonly number[]) => mask.reduce((sum, entry) => sum + entry, 0);

/** An episode as the page shows it. */
export function episodeView(episode: LoggedEpisode, table: TokenBytes | undefined, limits: RowLimits): EpisodeView {
  const row = table === undefined ? [] : rowSegments(episode, table, limits);
  return {
    sample: episode.sample,
    reward: episode.reward?.value ?? null,
    parts: episode.reward?.parts ?? {},
    passed: passedOf(episode),
    advantage: episode.advantage,
    finish: episode.finish,
    invalid: episode.invalid,
    turns: episode.turns.map((turn) => turnView(turn, row, limits)),
    row,
    tokens: episode.ids.length,
    sampled: count(episode.mask),
  };
}

const isPrompt = (turn: TurnView) => turn.role !== 'assistant';

/** A group as the page shows it; a prompt that all samples share is held once. */
export function groupView(
  summary: GroupSummary,
  episodes: readonly LoggedEpisode[],
  table: TokenBytes | undefined,
  limits: RowLimits,
): GroupView {
  const views = episodes.map((episode) => episodeView(episode, table, limits));
  const promptOf = (view: EpisodeView) => {
    const end = view.turns.findIndex((turn) => !isPrompt(turn));
    return view.turns.slice(0, end === -1 ? view.turns.length : end);
  };
  const prompt = views[0] === undefined ? [] : promptOf(views[0]);
  const shared = JSON.stringify(prompt);
  if (!views.every((view) => JSON.stringify(promptOf(view)) === shared))
    return { summary, prompt: [], episodes: views };
  const rest = views.map((view) => ({ ...view, turns: view.turns.slice(prompt.length) }));
  return { summary, prompt, episodes: rest };
}
