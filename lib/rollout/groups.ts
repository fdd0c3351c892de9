import { setMaxListeners } from 'node:events';
import type { Task } from '../environments/types.js';
import { runGroup } from './group.js';
import type { GroupRequest } from './group.js';
import type { Episode } from './types.js';

export interface GroupsRequest extends Omit<GroupRequest, 'task' | 'onEpisode'> {
  tasks: readonly Task[];
  /** At the start and after every finished episode: how many of all are done. */
  onProgress?: (done: number, total: number) => void;
  /** After every episode that was run now. */
  onFinished?: (episode: Episode, task: Task, sample: number) => void;
}

/**
 * The groups of several tasks at the same time. When one fails for good the others are aborted and awaited before the
 * error goes on, so that nothing is left running.
 *
 * @returns (P)(G) episodes: group and sample are fixed when sampling begins, whatever order episodes end in
 */
export async function runGroups(request: GroupsRequest): Promise<Episode[][]> {
  const { tasks, onProgress, onFinished, ...shared } = request;
  const failure = new AbortController();
  const signal = AbortSignal.any([request.signal, failure.signal]);
  // Every running call listens to it, and many run at the same time.
  setMaxListeners(0, signal);
  const total = tasks.length * request.samples;
  let done = 0;
  onProgress?.(0, total);
  const settled = await Promise.allSettled(
    tasks.map(async (task, group) => {
      try {
        return await runGroup({
          ...shared,
          task,
          signal,
          // A task that comes twice in a step must not give the same episodes twice.
          seedParts: [...request.seedParts, group],
          onEpisode: (episode, sample) => {
            onFinished?.(episode, task, sample);
            onProgress?.(++done, total);
          },
        });
      } catch (error) {
        failure.abort();
        throw error;
      }
    }),
  );
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return settled.map((result) => (result as PromiseFulfilledResult<Episode[]>).value);
}
