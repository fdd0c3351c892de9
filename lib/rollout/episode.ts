import type { EpisodeFinish, EpisodeState, EpisodeTurn, Environment, Message, Task } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { Session, SessionRow } from '../policy/types.js';
import type { Tokenizer } from '../tokenizer/index.js';
import { scoreEpisode } from './reward.js';
import { runCall } from './tool-call.js';
import { sampleTurn } from './turn.js';
import type { Episode, EpisodeCounters, Sampling } from './types.js';

export interface EpisodeRequest {
  /** Opened on the prompt; the episode closes it. */
  session: Session;
  prompt: Message[];
  task: Task;
  environment: Environment;
  tokenizer: Tokenizer;
  maxContext: number;
  stopIds: readonly number[];
  sampling: Sampling;
  maxTurns: number;
  purpose: 'train' | 'eval';
  /** Seed of a turn's part. */
  seedOf: (turn: number, part: number) => number;
  signal: AbortSignal;
  onTurn?: (turn: EpisodeTurn, messages: Message[]) => void;
}

const emptyCounters = (): EpisodeCounters => ({
  calls: 0,
  callErrors: 0,
  malformed: 0,
  cutObservations: 0,
  truncatedTurns: 0,
});

/** A state for a new episode. */
export const newState = (task: Task, prompt: Message[], purpose: 'train' | 'eval'): EpisodeState => ({
  task,
  turns: [],
  messages: [...prompt],
  outcome: undefined,
  state: {},
  purpose,
});

/** An episode that could not even begin. */
export function unstartedEpisode(task: Task, purpose: 'train' | 'eval', invalid: string): Episode {
  return {
    state: newState(task, [], purpose),
    finish: 'invalid',
    invalid,
    row: undefined,
    reward: undefined,
    figures: {},
    counters: emptyCounters(),
    tokens: 0,
    truncatedMass: 0,
    weightsVersion: 0,
    seconds: 0,
  };
}

function checkRow(row: SessionRow, length: number): void {
  const { ids, mask, samplerLogprobs } = row;
  if (ids.length !== length || mask.length !== length || samplerLogprobs.length !== Math.max(0, length - 1)) {
    const found = `${ids.length} ids, ${mask.length} mask entries, ${samplerLogprobs.length} log-probs`;
    throw new GrpoError('INTERNAL', 'rollout', `a session of ${length} tokens gave a row of ${found}`);
  }
}

/** A template without a form for tool results shows them as the user's; the record says what the model saw. */
function inKnownRole(message: Message, tokenizer: Tokenizer): Message {
  return message.role === 'tool' && !tokenizer.handlesToolRole ? { ...message, role: 'user' } : message;
}

interface Ending {
  finish: EpisodeFinish;
  invalid?: string;
}

/** Runs the episode's turns and says how they ended; `run` holds what was counted on the way. */
async function runTurns(
  request: EpisodeRequest,
  state: EpisodeState,
  run: { counters: EpisodeCounters; tokens: number; cutMass: number; weightsVersion: number },
): Promise<Ending> {
  const { session, environment, tokenizer, maxContext, signal } = request;
  const { counters } = run;
  let withoutCall = 0;
  for (let index = 0; index < request.maxTurns; index++) {
    if (session.length >= maxContext) return { finish: 'context' };
    const start = session.length;
    const sampled = await sampleTurn({
      session,
      tokenizer,
      format: environment.format,
      stopIds: request.stopIds,
      sampling: request.sampling,
      seedOf: (part) => request.seedOf(index, part),
      signal,
    });
    run.tokens += sampled.ids.length;
    run.cutMass += sampled.cutMass;
    run.weightsVersion = sampled.weightsVersion;
    if (sampled.finishReason === 'aborted' || signal.aborted) return { finish: 'aborted', invalid: 'aborted' };

    const { calls, malformed } = environment.format.parse(sampled.text);
    const turn: EpisodeTurn = {
      start,
      tokens: sampled.ids.length,
      text: sampled.text,
      finishReason: sampled.finishReason,
      calls,
      malformed,
      observations: [],
      generateMs: sampled.milliseconds,
      toolMs: 0,
    };
    state.turns.push(turn);
    state.messages.push({ role: 'assistant', content: sampled.text });
    counters.malformed += malformed.length;
    const truncated = sampled.finishReason === 'length' || sampled.finishReason === 'context';
    if (truncated) counters.truncatedTurns++;

    const results = [];
    const toolStart = performance.now();
    let done = false;
    for (const call of calls) {
      const { output, cut } = await runCall(call, environment.tools, state, tokenizer, signal);
      counters.calls++;
      counters.callErrors += output.isError ? 1 : 0;
      counters.cutObservations += cut ? 1 : 0;
      turn.observations.push(output.note === undefined ? output.text : `${output.text}\n${output.note}`);
      results.push({ call, output });
      if (output.invalid !== undefined) {
        turn.toolMs = performance.now() - toolStart;
        return { finish: signal.aborted ? 'aborted' : 'invalid', invalid: output.invalid };
      }
      if (output.outcome !== undefined) state.outcome = output.outcome;
      if (output.done) {
        done = true;
        break;
      }
    }
    turn.toolMs = performance.now() - toolStart;

    const acted = calls.length > 0 || malformed.length > 0;
    let next: Message[] = [];
    if (done) {
      request.onTurn?.(turn, []);
      return { finish: 'done' };
    }
    if (truncated && calls.length === 0) {
      request.onTurn?.(turn, []);
      return { finish: sampled.finishReason === 'context' ? 'context' : 'length' };
    }
    if (acted) {
      next = environment.format.observe(results, malformed).map((message) => inKnownRole(message, tokenizer));
      if (calls.length === 0) turn.observations.push(...next.map((message) => message.content));
    } else {
      withoutCall++;
      const isLast = environment.maxNoCallTurns !== undefined && withoutCall >= environment.maxNoCallTurns;
      const reply = environment.reply && !isLast ? await environment.reply(turn, state) : undefined;
      if (reply === undefined || !Array.isArray(reply)) {
        if (reply !== undefined) state.outcome = reply.done ?? state.outcome;
        request.onTurn?.(turn, []);
        return { finish: reply === undefined ? 'no-call' : 'done' };
      }
      next = reply;
      turn.observations.push(...reply.map((message) => message.content));
    }
    request.onTurn?.(turn, next);
    if (index + 1 === request.maxTurns) break;

    const tools = environment.toolsInTemplate ? environment.tools : undefined;
    const ids = tokenizer.continuation(state.messages, next, sampled.turnEnd, tools ? { tools } : {});
    // One token at least must be left to sample.
    if (session.length + ids.length >= maxContext) return { finish: 'context' };
    await session.append(ids);
    state.messages.push(...next);
  }
  return { finish: 'max-turns' };
}

/** Errors that concern the run, not one episode. */
const isFatal = (error: unknown) => error instanceof GrpoError && ['OUT_OF_MEMORY', 'CLOSED'].includes(error.code);

/**
 * One episode, token in, token out: sampled ids stay as they are, observations are encoded apart and appended with mask 0.
 * Never rejects for what a tool, reward or environment does: such an episode is invalid, with the reason.
 *
 * @throws {GrpoError} OUT_OF_MEMORY or CLOSED of the policy
 */
export async function runEpisode(request: EpisodeRequest): Promise<Episode> {
  const { session, task, environment, signal, purpose } = request;
  const started = performance.now();
  const state = newState(task, request.prompt, purpose);
  const run = { counters: emptyCounters(), tokens: 0, cutMass: 0, weightsVersion: 0 };
  let ending: Ending = { finish: 'invalid' };
  let row: SessionRow | undefined;
  let reward: Episode['reward'];
  let figures: Record<string, number> = {};
  try {
    ending = await runTurns(request, state, run);
    row = session.row();
    checkRow(row, session.length);
    if (ending.invalid === undefined) {
      await environment.finish?.(state);
      const scored = await scoreEpisode(environment.rewards, state, ending.finish, signal);
      if (scored.invalid !== undefined)
        ending = { finish: signal.aborted ? 'aborted' : 'invalid', invalid: scored.invalid };
      else {
        reward = { value: scored.value, parts: scored.parts };
        figures = environment.figures?.(state) ?? {};
      }
    }
  } catch (error) {
    if (isFatal(error)) throw error;
    const invalid = signal.aborted
      ? 'aborted'
      : `episode failed: ${error instanceof Error ? error.message : String(error)}`;
    ending = { finish: signal.aborted ? 'aborted' : 'invalid', invalid };
    reward = undefined;
  } finally {
    session.close();
  }
  return {
    state,
    finish: ending.finish,
    invalid: ending.invalid,
    row,
    reward,
    figures,
    counters: run.counters,
    tokens: run.tokens,
    truncatedMass: run.tokens > 0 ? run.cutMass / run.tokens : 0,
    weightsVersion: run.weightsVersion,
    seconds: (performance.now() - started) / 1000,
  };
}
