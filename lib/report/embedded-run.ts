import type { TokenBytes } from '../tokenizer/types.js';
import { choicesAmong, chooseGroups } from './choose-groups.js';
import { EMBEDDED_LIMITS, groupView, TIGHT_LIMITS } from './episode-view.js';
import { embeddedJson } from './page.js';
import type { RowLimits } from './token-pieces.js';
import type { TrajectoryIndex } from './trajectory-index.js';
import type { LoggedEpisode } from './trajectory-line.js';
import type { EmbeddedRun, GroupSummary, GroupView, RunData } from './types.js';

/** Room for what lies between groups, and for the lists of choices. */
const SPARE_BYTES = 20_000;

/** Share of the room that one group may take before its texts are shortened further. */
const MOST_SHARE = 0.1;

function fitting(
  summary: GroupSummary,
  episodes: readonly LoggedEpisode[],
  tokens: TokenBytes | undefined,
  bytes: number,
): { view: GroupView; size: number } {
  const sized = (limits: RowLimits) => {
    const view = groupView(summary, episodes, tokens, limits);
    return { view, size: Buffer.byteLength(embeddedJson(view)) };
  };
  const full = sized(EMBEDDED_LIMITS);
  return full.size <= bytes ? full : sized(TIGHT_LIMITS);
}

/**
 * What a page without a server holds: all curves, and the most telling groups as long as there is room.
 *
 * @param bytes of the embedded JSON at most
 */
export async function embeddedRun(
  data: RunData,
  index: TrajectoryIndex,
  tokens: TokenBytes | undefined,
  bytes: number,
): Promise<EmbeddedRun> {
  const all = index.summaries();
  const groups: GroupView[] = [];
  let left = bytes - SPARE_BYTES - Buffer.byteLength(embeddedJson(data));
  for (const summary of chooseGroups(all)) {
    // One group at a time: only what is embedded is ever held.
    const [episodes] = await index.read([summary]);
    const { view, size } = fitting(summary, episodes ?? [], tokens, Math.min(left, bytes * MOST_SHARE));
    if (size > left) continue;
    left -= size;
    groups.push(view);
  }
  const choices = choicesAmong(
    all,
    groups.map(({ summary }) => summary),
  );
  return { data, groups, choices };
}
