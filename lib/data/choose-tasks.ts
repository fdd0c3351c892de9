import { deriveSeed, shuffled } from '../algorithms/random.js';
import { GrpoError } from '../errors.js';
import type { CodeTask } from './types.js';

/** Which tasks to use. */
export interface TaskFilter {
  /** Of these difficulties only; a task that names none is left out. */
  difficulty?: readonly string[];
  /** [least, most] share of the record's attempts that passed, 0..1; a task that names none is left out. */
  passPercentage?: readonly [number, number];
}

/** In which order, and how many. */
export interface TaskChoice extends TaskFilter {
  /** Shuffle with this seed. @default the order of the file */
  shuffleSeed?: number;
  /** The first so many. @default all */
  take?: number;
}

/** Whether a task passes the filter. */
export function isWanted(task: CodeTask, { difficulty, passPercentage }: TaskFilter): boolean {
  if (difficulty !== undefined && !difficulty.includes(String(task.difficulty))) return false;
  if (passPercentage === undefined) return true;
  const share = task.passPercentage;
  return typeof share === 'number' && share >= passPercentage[0] && share <= passPercentage[1];
}

/**
 * Filters, then shuffles, then takes.
 *
 * @throws INVALID_TASKS where no task is left
 */
export function chooseTasks(tasks: readonly CodeTask[], choice: TaskChoice, source: string): CodeTask[] {
  const wanted = tasks.filter((task) => isWanted(task, choice));
  if (wanted.length === 0) {
    const found = [...new Set(tasks.map(({ difficulty }) => String(difficulty ?? 'none')))].join(', ');
    const message = `${source}: none of ${tasks.length} tasks passes the filter; difficulties in it: ${found || 'none'}`;
    throw new GrpoError('INVALID_TASKS', 'tasks', message);
  }
  const ordered = choice.shuffleSeed === undefined ? wanted : shuffled(wanted, deriveSeed(choice.shuffleSeed, 'tasks'));
  return ordered.slice(0, choice.take);
}
