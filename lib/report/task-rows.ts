import { passShare, rewardMean } from './trajectory-index.js';
import type { EpisodeEntry } from './trajectory-index.js';
import type { TaskRow } from './types.js';

/** Every task in numbers. A task that came once has no early and late. */
export function taskRows(groups: readonly (readonly EpisodeEntry[])[], isJudged: boolean): TaskRow[] {
  const byTask = new Map<string, (readonly EpisodeEntry[])[]>();
  for (const group of groups) {
    const task = (group[0] as EpisodeEntry).task;
    const own = byTask.get(task);
    if (own) own.push(group);
    else byTask.set(task, [group]);
  }
  return [...byTask].map(([task, own]) => {
    const half = Math.ceil(own.length / 2);
    const all = own.flat();
    const early = own.length > 1 ? own.slice(0, half).flat() : [];
    const late = own.slice(half).flat();
    return {
      task,
      groups: own.length,
      episodes: all.length,
      invalid: all.filter((entry) => entry.invalid).length,
      passRate: passShare(all, isJudged),
      passEarly: passShare(early, isJudged),
      passLate: passShare(late, isJudged),
      rewardMean: rewardMean(all),
      rewardEarly: rewardMean(early),
      rewardLate: rewardMean(late),
    };
  });
}
