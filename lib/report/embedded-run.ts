import type { TokenBytes } from '../tokenizer/types.js';
import { choicesAmong, chooseGroups } from './choose-groups.js';
import { EMBEDDED_LIMITS, groupView } from './episode-view.js';
import { embeddedJson } from './page.js';
import type { TrajectoryIndex } from './trajectory-index.js';
import type { EmbeddedRun, GroupView, RunData } from './types.js';

/** Room for what lies between groups, and for the lists of choices. */
const SPARE_BYTES = 20_000;

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
    const view = groupView(summary, episodes ?? [], tokens, EMBEDDED_LIMITS);
    const size = Buffer.byteLength(embeddedJson(view));
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
