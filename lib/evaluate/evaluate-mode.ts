import type { Environment, EpisodeTurn, Task } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { PolicyLike } from '../policy/types.js';
import { checkInvalidShare, evaluationRecord } from '../run/index.js';
import type { EvaluationMode, EvaluationRecord } from '../run/index.js';
import { runGroups } from '../rollout/index.js';
import type { Episode, Limit, Sampling } from '../rollout/index.js';

export interface ModeRequest {
  policy: PolicyLike;
  environment: Environment;
  tasks: readonly Task[];
  mode: EvaluationMode;
  split: string;
  step: number;
  samples: number;
  /** The k of pass@k. */
  k: readonly number[];
  sampling: Sampling;
  maxTurns: number;
  testFeedback: boolean;
  invalidLimit: number;
  seed: number;
  limit: Limit;
  signal: AbortSignal;
  onProgress?: (done: number, total: number) => void;
  /** Tasks that were left out because their own solution failed. */
  tasksExcluded?: number;
  /** Episodes of an earlier evaluation that stopped. */
  known?: (task: Task, sample: number) => Episode | undefined;
  onFinished?: (episode: Episode, task: Task, sample: number) => void;
  onTurn?: (turn: EpisodeTurn) => void;
}

/**
 * Evaluates the policy in one mode. Invalid episodes are excluded and counted.
 *
 * @throws {GrpoError} ABORTED when the signal fired, EPISODES_INVALID above the limit
 */
export async function evaluateMode(request: ModeRequest): Promise<{ record: EvaluationRecord; groups: Episode[][] }> {
  const { environment, tasks, mode, step, split, samples, sampling, signal, seed } = request;
  const started = performance.now();
  const groups = await runGroups({
    policy: request.policy,
    environment,
    tasks,
    samples,
    sampling,
    maxTurns: request.maxTurns,
    purpose: 'eval',
    // The same draws at every evaluation of a run: differences come from the weights.
    seedParts: [seed, 'evaluation', mode],
    limit: request.limit,
    signal,
    onProgress: request.onProgress,
    known: request.known,
    onFinished: request.onFinished,
    onTurn: request.onTurn,
  });
  if (signal.aborted) throw new GrpoError('ABORTED', 'evaluate', 'the evaluation was aborted');
  checkInvalidShare(groups.flat(), request.invalidLimit, 'evaluate');
  const record = evaluationRecord({
    step,
    split,
    mode,
    temperature: sampling.temperature,
    groups,
    samples,
    k: request.k,
    testFeedback: request.testFeedback,
    tasksExcluded: request.tasksExcluded,
    tools: environment.tools.map((tool) => tool.name),
    seed,
    seconds: (performance.now() - started) / 1000,
  });
  return { record, groups };
}
