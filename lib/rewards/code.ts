import type { Reward, RewardContext } from '../environments/types.js';
import type { CodeOutcome } from '../tools/submit.js';
import { defineReward } from './define-reward.js';

const SEARCHES_PAID = 3;
const PER_SEARCH = 0.05;
const NEVER_SUBMITTED = -0.1;

export interface CodeRewardOptions {
  /** Pays every different query once. @default false */
  distinctSearches?: boolean;
  /** The mode has no submissions: code that was graded counts as one. @default false */
  withoutSubmissions?: boolean;
}

/**
 * Reward of the code agent: 1 where the last submission passed; 0.05 a search, three at most, where it failed; -0.1 in
 * place of all that where nothing was submitted. An episode that the sandbox could not judge is invalid.
 */
export function codeReward(options: CodeRewardOptions = {}): Reward {
  return defineReward({
    name: 'code',
    score: ({ outcome, turns }) => {
      const { passed = false, submitted = false, graded = false, invalid } = (outcome ?? {}) as Partial<CodeOutcome>;
      if (invalid !== undefined) return { invalid };
      const handedIn = submitted || (options.withoutSubmissions === true && graded);
      const searches = countSearches(turns, options.distinctSearches ?? false);
      const parts = {
        passed: handedIn && passed ? 1 : 0,
        searches: handedIn && !passed ? PER_SEARCH * Math.min(searches, SEARCHES_PAID) : 0,
        noSubmission: handedIn ? 0 : NEVER_SUBMITTED,
      };
      return { value: parts.passed + parts.searches + parts.noSubmission, parts };
    },
  });
}

/** Well-formed search calls of an episode, or the number of different queries. */
export function countSearches(turns: RewardContext['turns'], distinct: boolean): number {
  const queries = turns
    .flatMap(({ calls }) => calls)
    .filter(({ tool }) => tool === 'search')
    .map(({ args }) => String(args['query']).trim().toLowerCase().replace(/\s+/g, ' '));
  return distinct ? new Set(queries).size : queries.length;
}
