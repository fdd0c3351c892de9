import { GROUP_FILTERS } from './types.js';
import type { GroupFilter, GroupSummary } from './types.js';

const byStep = (a: GroupSummary, b: GroupSummary) => a.step - b.step || a.group - b.group;
const scored = (groups: readonly GroupSummary[]) => groups.filter((group) => group.rewardMean !== null);
const reward = (group: GroupSummary) => group.rewardMean as number;

/** Pairs of a task's first and last group, the largest change of the mean reward first; tasks that came once have none. */
export function changedMost(groups: readonly GroupSummary[]): [GroupSummary, GroupSummary][] {
  const ends = new Map<string, [GroupSummary, GroupSummary]>();
  for (const group of scored(groups).sort(byStep)) {
    const pair = ends.get(group.task);
    if (pair) pair[1] = group;
    else ends.set(group.task, [group, group]);
  }
  const change = ([first, last]: [GroupSummary, GroupSummary]) => Math.abs(reward(last) - reward(first));
  return [...ends.values()]
    .filter((pair) => pair[0] !== pair[1] && change(pair) > 0)
    .sort((a, b) => change(b) - change(a));
}

/** All groups that a filter lets through, in its order. */
export function orderGroups(groups: readonly GroupSummary[], filter: GroupFilter): GroupSummary[] {
  switch (filter) {
    case 'best':
      return scored(groups).sort((a, b) => reward(b) - reward(a) || byStep(b, a));
    case 'worst':
      return scored(groups).sort((a, b) => reward(a) - reward(b) || byStep(b, a));
    case 'changed':
      return changedMost(groups).flat();
    case 'last':
      return [...groups].sort((a, b) => b.step - a.step || a.group - b.group);
    case 'first':
    case 'all':
      return [...groups].sort(byStep);
  }
}

/** Groups that a page without a server holds of each kind. */
const EACH = 4;
/** Groups of all kinds together; what is left is filled with others, evenly over the run. */
const MOST = 24;

/** Groups to embed, the most telling first: one of each kind, then the next of each. */
export function chooseGroups(groups: readonly GroupSummary[]): GroupSummary[] {
  const kinds = GROUP_FILTERS.filter((filter) => filter !== 'all').map((filter) => orderGroups(groups, filter));
  const chosen = new Set<GroupSummary>();
  for (let index = 0; index < EACH; index++) {
    for (const group of kinds.flatMap((kind) => kind[index] ?? [])) chosen.add(group);
  }
  const others = orderGroups(groups, 'all').filter((group) => !chosen.has(group));
  const wanted = Math.min(others.length, MOST - chosen.size);
  for (let index = 0; index < wanted; index++) {
    chosen.add(others[Math.floor((index * others.length) / wanted)] as GroupSummary);
  }
  return [...chosen];
}

/** Filter -> indexes of the embedded groups, in its order. */
export function choicesAmong(
  all: readonly GroupSummary[],
  embedded: readonly GroupSummary[],
): Record<GroupFilter, number[]> {
  const place = new Map(embedded.map((group, index) => [`${group.step}:${group.group}`, index]));
  const indexes = (filter: GroupFilter) => {
    const ordered = orderGroups(all, filter);
    // The best of the run are the best; further ones only fill up where all are there.
    const limit = embedded.length === all.length || filter === 'all' ? ordered.length : EACH;
    return ordered.slice(0, limit).flatMap((group) => place.get(`${group.step}:${group.group}`) ?? []);
  };
  return Object.fromEntries(GROUP_FILTERS.map((filter) => [filter, indexes(filter)])) as Record<GroupFilter, number[]>;
}
