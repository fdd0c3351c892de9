import type { SessionRow, UpdateRow } from '../policy/types.js';
import type { GroupAdvantages } from './advantages.js';

/** An episode as row selection sees it. */
export interface ScoredRow {
  row: SessionRow;
  /** null = invalid. */
  reward: number | null;
}

/** What goes into an update, and what was left out and why. */
export interface RowSelection {
  rows: UpdateRow[];
  /** Constant groups, trained on or not. */
  constantGroups: number;
  /** Invalid episodes. */
  invalid: number;
  /** Valid episodes without a single sampled token. */
  empty: number;
}

/** Sampled tokens of a row that can be trained on (entry 0 has no log-prob). */
export function trainedTokens(mask: ArrayLike<number>): number {
  let tokens = 0;
  for (let index = 1; index < mask.length; index++) tokens += mask[index] === 1 ? 1 : 0;
  return tokens;
}

/**
 * Rows of one update. Constant groups leave it whole unless they are kept; invalid episodes and rows without a sampled
 * token never enter, so that they have no share in a denominator.
 *
 * groups, advantages: (P), with G entries each.
 */
export function selectRows(
  groups: readonly (readonly ScoredRow[])[],
  advantages: readonly GroupAdvantages[],
  options: { constantGroups: 'drop' | 'keep'; temperature: number },
): RowSelection {
  const selection: RowSelection = { rows: [], constantGroups: 0, invalid: 0, empty: 0 };
  groups.forEach((group, index) => {
    const scored = advantages[index] as GroupAdvantages;
    if (scored.constant) selection.constantGroups++;
    group.forEach(({ row, reward }, sample) => {
      if (reward === null) selection.invalid++;
      else if (trainedTokens(row.mask) === 0) selection.empty++;
      else if (!scored.constant || options.constantGroups === 'keep') {
        // One update a batch: the ratio is 1 by construction, so no old log-probs go in.
        selection.rows.push({
          ids: row.ids,
          mask: row.mask,
          advantage: scored.advantages[sample] as number,
          temperature: options.temperature,
          samplerLogprobs: row.samplerLogprobs,
        });
      }
    });
  });
  return selection;
}
