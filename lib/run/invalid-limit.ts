import { GrpoError } from '../errors.js';
import type { Episode } from '../rollout/index.js';
import { invalidReasons } from './statistics.js';

/**
 * Stops a run whose episodes mostly could not be scored: going on would train on what is left over.
 *
 * @throws {GrpoError} EPISODES_INVALID with the reasons counted
 */
export function checkInvalidShare(episodes: readonly Episode[], limit: number, operation: string): void {
  const invalid = episodes.filter((episode) => episode.invalid !== undefined);
  if (episodes.length === 0 || invalid.length / episodes.length <= limit) return;
  const reasons = Object.entries(invalidReasons(invalid))
    .sort(([, left], [, right]) => right - left)
    .slice(0, 5)
    .map(([reason, times]) => `${times} x ${reason}`);
  const share = `${invalid.length} of ${episodes.length} episodes are invalid (limit ${limit})`;
  throw new GrpoError('EPISODES_INVALID', operation, `${share}: ${reasons.join('; ')}`);
}
