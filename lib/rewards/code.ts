import type { Reward, RewardContext } from '../environments/types.js';
import type { CodeOutcome } from '../tools/submit.js';
import { defineReward } from './define-reward.js';

const SEARCHES_PAID = 3;
const PER_SEARCH = 0.05;
const NEVER_SUBMITTED = -0.1;
const VALID_CALLS = 0.2;
const PER_TURN_SHARE = 0.1;

export interface CodeRewardOptions {
  /**
   * Taken off a passing episode for every search. Without it a pass with a needless search pays as much as one without, and
   * searching rises everywhere.
   *
   * @default 0
   */
  searchCost?: number;
  /** Pays every different query once. @default false */
  distinctSearches?: boolean;
  /** The mode has no submissions: code that was graded counts as one. @default false */
  withoutSubmissions?: boolean;
  /** Turns of an episode at most, for the share that 'staged' takes off. @default 5 */
  maxTurns?: number;
}

interface Verdict {
  passed: boolean;
  /** Something was handed in to be judged. */
  handedIn: boolean;
  fraction: number;
}

function verdictOf(outcome: unknown, options: CodeRewardOptions): Verdict | { invalid: string } {
  const known = (outcome ?? {}) as Partial<CodeOutcome>;
  const { passed = false, submitted = false, graded = false, fraction = 0, invalid } = known;
  if (invalid !== undefined) return { invalid };
  const handedIn = submitted || (options.withoutSubmissions === true && graded);
  return { handedIn, passed: handedIn && passed, fraction: handedIn ? fraction : 0 };
}

/**
 * Reward of the code agent: 1 where the last submission passed, less `searchCost` a search; 0.05 a search, three at most,
 * where it failed; -0.1 in place of all that where nothing was submitted. An episode that the sandbox could not judge is invalid.
 */
export function codeReward(options: CodeRewardOptions = {}): Reward {
  const { searchCost = 0, maxTurns = 5 } = options;
  return defineReward({
    name: 'code',
    // The last turn of an episode that passes submits.
    bounds: { passed: [1 - searchCost * (maxTurns - 1), 1], failed: [NEVER_SUBMITTED, PER_SEARCH * SEARCHES_PAID] },
    score: ({ outcome, turns }) => {
      const verdict = verdictOf(outcome, options);
      if ('invalid' in verdict) return verdict;
      const { handedIn, passed } = verdict;
      const searches = countSearches(turns, options.distinctSearches ?? false);
      const parts = {
        passed: passed ? 1 : 0,
        searches: handedIn && !passed ? PER_SEARCH * Math.min(searches, SEARCHES_PAID) : 0,
        noSubmission: handedIn ? 0 : NEVER_SUBMITTED,
        ...(searchCost > 0 ? { searchCost: passed ? -searchCost * searches : 0 } : {}),
      };
      return { value: Object.values(parts).reduce((sum, part) => sum + part, 0), parts };
    },
  });
}

/** 1 where the last submission passed all tests, else 0. */
export function outcomeReward(options: CodeRewardOptions = {}): Reward {
  return defineReward({
    name: 'outcome',
    bounds: { passed: [1, 1], failed: [0, 0] },
    score: ({ outcome }) => {
      const verdict = verdictOf(outcome, options);
      return 'invalid' in verdict ? verdict : Number(verdict.passed);
    },
  });
}

/** Share of the tests that the last submission passed. */
export function testFractionReward(options: CodeRewardOptions = {}): Reward {
  return defineReward({
    name: 'test-fraction',
    bounds: { passed: [1, 1], failed: [0, 1] },
    score: ({ outcome }) => {
      const verdict = verdictOf(outcome, options);
      return 'invalid' in verdict ? verdict : verdict.fraction;
    },
  });
}

/** 1 for a pass, plus 0.2 times the share of calls that were well-formed, less 0.1 times the share of turns that were used. */
export function stagedReward(options: CodeRewardOptions = {}): Reward {
  const maxTurns = options.maxTurns ?? 5;
  return defineReward({
    name: 'staged',
    bounds: { passed: [1 - PER_TURN_SHARE, 1 + VALID_CALLS], failed: [-PER_TURN_SHARE, VALID_CALLS] },
    score: ({ outcome, turns }) => {
      const verdict = verdictOf(outcome, options);
      if ('invalid' in verdict) return verdict;
      const valid = turns.reduce((sum, { calls }) => sum + calls.length, 0);
      const all = turns.reduce((sum, { malformed }) => sum + malformed.length, valid);
      const parts = {
        passed: verdict.passed ? 1 : 0,
        validCalls: all === 0 ? 0 : VALID_CALLS * (valid / all),
        turns: -PER_TURN_SHARE * Math.min(1, turns.length / maxTurns),
      };
      return { value: parts.passed + parts.validCalls + parts.turns, parts };
    },
  });
}

/** Rewards of the code agent that a configuration can name in place of, or beside, `code`. */
export function otherCodeRewards(options: CodeRewardOptions = {}): Reward[] {
  return [codeReward(options), outcomeReward(options), testFractionReward(options), stagedReward(options)];
}

/** Well-formed search calls of an episode, or the number of different queries. */
export function countSearches(turns: RewardContext['turns'], distinct: boolean): number {
  const queries = turns
    .flatMap(({ calls }) => calls)
    .filter(({ tool }) => tool === 'search')
    .map(({ args }) => String(args['query']).trim().toLowerCase().replace(/\s+/g, ' '));
  return distinct ? new Set(queries).size : queries.length;
}
