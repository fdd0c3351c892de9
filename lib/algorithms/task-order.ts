import { deriveSeed, shuffled } from './random.js';

/** Where training stands in the tasks; what a checkpoint has to keep of it. */
export interface DataCursor {
  /** Tasks handed out since the start of the run. */
  drawn: number;
}

/**
 * The next tasks: every epoch is its own seeded order of all tasks, and the cursor alone says where one stands.
 *
 * @returns (count) tasks; the cursor moves on
 */
export function nextTasks<T>(tasks: readonly T[], cursor: DataCursor, count: number, seed: number): T[] {
  const chosen: T[] = [];
  let epoch = -1;
  let order: T[] = [];
  for (let index = 0; index < count; index++, cursor.drawn++) {
    const current = Math.floor(cursor.drawn / tasks.length);
    if (current !== epoch) {
      epoch = current;
      order = shuffled(tasks, deriveSeed(seed, 'epoch', epoch));
    }
    chosen.push(order[cursor.drawn % tasks.length] as T);
  }
  return chosen;
}

/**
 * Holds out a seeded tenth of the tasks for evaluations.
 *
 * At least one and at most `most` are held out; a single task serves both sides.
 */
export function holdOut<T>(tasks: readonly T[], seed: number, most = 50): { training: T[]; evaluation: T[] } {
  if (tasks.length < 2) return { training: [...tasks], evaluation: [...tasks] };
  const size = Math.min(most, Math.max(1, Math.floor(tasks.length / 10)));
  const chosen = new Set(shuffled(tasks, deriveSeed(seed, 'hold-out')).slice(0, size));
  return {
    training: tasks.filter((task) => !chosen.has(task)),
    evaluation: tasks.filter((task) => chosen.has(task)),
  };
}
