import { environmentFor } from '../environments/adapt.js';
import type { Environment, EpisodeTurn, Message, Task } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { PolicyLike, Session } from '../policy/types.js';
import type { Tokenizer } from '../tokenizer/index.js';
import { deriveSeed } from '../algorithms/index.js';
import { runEpisode, unstartedEpisode } from './episode.js';
import type { Limit } from './limit.js';
import type { Episode, Sampling } from './types.js';

export interface GroupRequest {
  policy: PolicyLike;
  environment: Environment;
  task: Task;
  /** Episodes of the task. */
  samples: number;
  sampling: Sampling;
  maxTurns: number;
  purpose: 'train' | 'eval';
  /** What the seeds of all turns are derived from, e.g. run seed and step. */
  seedParts: (string | number)[];
  /** Shared by all groups that run at the same time. */
  limit: Limit;
  signal: AbortSignal;
  /** An episode that was run before, and is taken in place of a new one. */
  known?: (task: Task, sample: number) => Episode | undefined;
  onEpisode?: (episode: Episode, sample: number) => void;
  onTurn?: (turn: EpisodeTurn, messages: Message[]) => void;
}

interface Root {
  session: Session;
  prompt: Message[];
}

/** The first messages and their ids; templates that ignore tool schemas get them in the system message. */
function renderPrompt(
  environment: Environment,
  task: Task,
  tokenizer: Tokenizer,
): { prompt: Message[]; ids: Int32Array } {
  const prompt = environment.prompt(task);
  const plain = tokenizer.applyChatTemplate(prompt, { addGenerationPrompt: true });
  if (!environment.toolsInTemplate || environment.tools.length === 0) return { prompt, ids: plain.ids };
  const withTools = tokenizer.applyChatTemplate(prompt, { addGenerationPrompt: true, tools: environment.tools });
  if (withTools.text !== plain.text || environment.toolPrompt === undefined) return { prompt, ids: withTools.ids };
  const [first, ...rest] = prompt;
  const told: Message[] =
    first?.role === 'system'
      ? [{ ...first, content: `${first.content}\n\n${environment.toolPrompt}` }, ...rest]
      : [{ role: 'system', content: environment.toolPrompt }, ...prompt];
  return { prompt: told, ids: tokenizer.applyChatTemplate(told, { addGenerationPrompt: true }).ids };
}

async function openPrompt(request: GroupRequest, environment: Environment): Promise<Root> {
  const { policy, task } = request;
  const { tokenizer } = policy;
  if (!tokenizer?.hasChatTemplate) {
    throw new GrpoError(
      'INVALID_TOKENIZER',
      'rollout',
      'episodes need a model folder with a tokenizer and a chat template',
    );
  }
  const { prompt, ids } = renderPrompt(environment, task, tokenizer);
  if (ids.length >= policy.maxContext) {
    const message = `the prompt of task ${task.id} has ${ids.length} tokens, the context holds ${policy.maxContext}`;
    throw new GrpoError('CONTEXT_EXCEEDED', 'rollout', message);
  }
  return { session: await policy.open(ids), prompt };
}

/** Faults that every episode would meet alike. */
const isFatal = (error: unknown) =>
  error instanceof GrpoError && ['OUT_OF_MEMORY', 'CLOSED', 'INVALID_TOKENIZER'].includes(error.code);

/**
 * All episodes of one task. The prompt is opened once and every sample forks it, so it is computed and stored once.
 *
 * @returns (samples) episodes in the order of their sample index; a task whose prompt cannot be opened gives invalid ones
 * @throws {GrpoError} OUT_OF_MEMORY, CLOSED or INVALID_TOKENIZER
 */
export async function runGroup(request: GroupRequest): Promise<Episode[]> {
  const { policy, task, samples, limit, signal, purpose } = request;
  const environment = policy.tokenizer ? environmentFor(request.environment, policy.tokenizer) : request.environment;
  let opening: Promise<Root> | undefined;
  let forks: Promise<unknown> = Promise.resolve();
  // A session does one thing at a time: forks of the prompt wait for each other.
  const fork = (root: Root): Promise<Session> => {
    const next = forks.then(() => root.session.fork());
    forks = next.catch(() => undefined);
    return next;
  };
  const runSample = async (sample: number): Promise<Episode> => {
    const root = await (opening ??= openPrompt(request, environment));
    const tokenizer = policy.tokenizer as NonNullable<typeof policy.tokenizer>;
    return runEpisode({
      session: await fork(root),
      prompt: root.prompt,
      task,
      environment,
      tokenizer,
      maxContext: policy.maxContext,
      stopIds: policy.stopIds,
      sampling: request.sampling,
      maxTurns: request.maxTurns,
      purpose,
      seedOf: (turn, part) => deriveSeed(...request.seedParts, task.id, sample, turn, part),
      signal,
      onTurn: request.onTurn,
    });
  };
  const finished = await Promise.allSettled(
    Array.from({ length: samples }, async (_, sample) => {
      const known = request.known?.(task, sample);
      if (known !== undefined) {
        request.onEpisode?.(known, sample);
        return known;
      }
      return limit.run(async () => {
        let episode: Episode;
        try {
          if (signal.aborted) episode = unstartedEpisode(task, purpose, 'aborted');
          else episode = await runSample(sample);
        } catch (error) {
          if (isFatal(error)) throw error;
          const reason = signal.aborted ? 'aborted' : error instanceof Error ? error.message : String(error);
          episode = unstartedEpisode(task, purpose, reason);
        }
        request.onEpisode?.(episode, sample);
        return episode;
      });
    }),
  );
  const root = await opening?.catch(() => undefined);
  root?.session.close();
  return finished.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
