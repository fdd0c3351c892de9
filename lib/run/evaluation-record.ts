import { bootstrapInterval, passAtK } from '../algorithms/index.js';
import type { Episode } from '../rollout/index.js';
import type { EvaluationMode, EvaluationRecord } from './records.js';
import { called, invalidReasons, meanOrNull, passed, passRate, rate, searchRatesByNeed } from './statistics.js';

export interface EvaluationFacts {
  step: number;
  split: string;
  mode: EvaluationMode;
  temperature: number;
  /** (tasks)(samples) */
  groups: readonly (readonly Episode[])[];
  samples: number;
  /** The k of pass@k. */
  k: readonly number[];
  testFeedback: boolean;
  /** Tasks that were left out because their own solution failed. */
  tasksExcluded?: number;
  /** Names of the environment's tools. */
  tools: readonly string[];
  seed: number;
  seconds: number;
}

const isValid = (episode: Episode) => episode.invalid === undefined;

/** Valid samples and passes of each task; none where no episode has a verdict at all. */
function taskCounts(groups: EvaluationFacts['groups']): { n: number; c: number }[] {
  const valid = groups.map((group) => group.filter(isValid)).filter((group) => group.length > 0);
  if (passRate(valid.flat()) === null) return [];
  return valid.map((group) => ({ n: group.length, c: group.map(passed).filter(Boolean).length }));
}

/** pass@k for each k: over the tasks that have k valid samples. */
function passAtKs(counts: { n: number; c: number }[], ks: readonly number[]): Record<string, number | null> {
  const value = (k: number) => meanOrNull(counts.filter(({ n }) => n >= k).map(({ n, c }) => passAtK(n, c, k)));
  return Object.fromEntries(ks.map((k) => [String(k), value(k)]));
}

/** One line of `evaluations.jsonl`: means over valid episodes, pass@k per task and averaged, interval over tasks. */
export function evaluationRecord(facts: EvaluationFacts): EvaluationRecord {
  const all = facts.groups.flat();
  const valid = all.filter(isValid);
  const counts = taskCounts(facts.groups);
  const [low, high] = bootstrapInterval(
    counts.map(({ n, c }) => c / n),
    facts.seed,
  );
  const finite = (value: number) => (Number.isFinite(value) ? value : null);
  const toolRate = (name: string) => (facts.tools.includes(name) ? rate(valid, called(name)) : null);
  return {
    step: facts.step,
    split: facts.split,
    mode: facts.mode,
    temperature: facts.temperature,
    n: valid.length,
    tasks: facts.groups.length,
    samples_per_task: facts.samples,
    pass_rate: passRate(valid),
    ci95: [finite(low), finite(high)],
    search_rate: toolRate('search'),
    ...searchRatesByNeed(valid),
    ...(facts.k.some((k) => k > 1) ? { pass_at_k: passAtKs(counts, facts.k) } : {}),
    reward_mean: meanOrNull(valid.map((episode) => episode.reward?.value).filter((value) => value !== undefined)),
    execute_rate: toolRate('execute'),
    submit_rate: toolRate('submit'),
    truncated_rate: rate(valid, (episode) => episode.counters.truncatedTurns > 0),
    malformed_rate: rate(valid, (episode) => episode.counters.malformed > 0),
    turns_mean: meanOrNull(valid.map((episode) => episode.state.turns.length)),
    calls_mean: meanOrNull(valid.map((episode) => episode.counters.calls)),
    tokens_mean: meanOrNull(valid.map((episode) => episode.tokens)),
    invalid_calls_mean: meanOrNull(valid.map((episode) => episode.counters.malformed)),
    ...(facts.tasksExcluded === undefined ? {} : { tasks_excluded: facts.tasksExcluded }),
    episodes_invalid: all.length - valid.length,
    invalid_reasons: invalidReasons(all),
    test_feedback: facts.testFeedback,
    seconds: facts.seconds,
  };
}
