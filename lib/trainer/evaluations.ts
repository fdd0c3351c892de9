import { evaluateMode } from '../evaluate/evaluate-mode.js';
import { Limit } from '../rollout/index.js';
import { EpisodeFigures, evaluationLine, markLogs } from '../run/index.js';
import type { EvaluationMode, EvaluationRecord } from '../run/index.js';
import { saveWeights } from './saving.js';
import type { RunContext, RunState } from './state.js';

/**
 * Evaluates the present weights in some modes at the same time, logs the results, and keeps the adapter as `best/` when the
 * last mode's pass rate beats all earlier ones.
 *
 * @throws {GrpoError} ABORTED, EPISODES_INVALID
 */
export async function evaluateNow(
  context: RunContext,
  state: RunState,
  modes: readonly EvaluationMode[],
): Promise<EvaluationRecord[]> {
  const { config, policy, source, reporter } = context;
  const { temperature, topP, topK, minP, maxNewTokens } = config;
  const limit = new Limit(context.concurrency);
  const finished = new Map<EvaluationMode, number>();
  const total = modes.length * context.evaluation.length * config.evalSamples;
  const failure = new AbortController();
  const figures = new EpisodeFigures();
  const signal = AbortSignal.any([context.stop, failure.signal]);
  const evaluateOne = async (mode: EvaluationMode): Promise<EvaluationRecord> => {
    const environment = source.open(mode, 'eval');
    const { record } = await evaluateMode({
      policy,
      environment,
      tasks: context.evaluation,
      mode,
      split: context.split,
      step: state.step,
      samples: config.evalSamples,
      k: [1],
      sampling: { temperature, topP, topK, minP, maxNewTokens },
      maxTurns: (source.modes.length === 1 ? context.maxTurns : undefined) ?? environment.maxTurns,
      testFeedback: config.maxSubmissions === 0,
      invalidLimit: config.invalidLimit,
      seed: config.seed,
      limit,
      signal,
      onTurn: (turn) => figures.turn(turn),
      onFinished: (episode) => figures.finished(episode),
      onProgress: (done) => {
        finished.set(mode, done);
        const sum = [...finished.values()].reduce((left, right) => left + right, 0);
        reporter.progress({ label: 'evaluation', done: sum, total, unit: 'episodes', facts: figures.facts() });
      },
    });
    return record;
  };
  // When one mode fails the others are aborted and awaited, so that nothing is left running.
  const settled = await Promise.allSettled(
    modes.map((mode) =>
      evaluateOne(mode).catch((error: unknown) => {
        failure.abort(error);
        throw error;
      }),
    ),
  );
  if (failure.signal.aborted) throw failure.signal.reason;
  const records = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  await context.evaluations.append(...records);
  for (const record of records) {
    context.loggers.evaluation(record);
    reporter.evaluation(record, evaluationLine(record));
  }
  await keepBest(context, state, records.at(-1));
  state.evaluated = state.step;
  state.logs = await markLogs(context.folder);
  return records;
}

async function keepBest(context: RunContext, state: RunState, record: EvaluationRecord | undefined): Promise<void> {
  const passRate = record?.pass_rate ?? record?.reward_mean ?? null;
  if (passRate === null) return;
  if (state.best && passRate <= state.best.passRate) {
    state.sinceBest++;
    return;
  }
  await saveWeights(context, 'best');
  state.best = { step: state.step, passRate };
  state.sinceBest = 0;
}
