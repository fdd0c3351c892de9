import type { CallFormat } from '../environments/types.js';
import type { FinishReason, Session } from '../policy/types.js';
import type { Tokenizer } from '../tokenizer/index.js';
import type { Sampling } from './types.js';

/** What one assistant turn sampled. */
export interface SampledTurn {
  ids: Int32Array;
  /** Without the token that ended the turn. */
  text: string;
  finishReason: FinishReason;
  /** The model ended the turn itself, with one of the stop ids. */
  ended: boolean;
  /** The last id is the template's own turn end. */
  turnEnd: boolean;
  /** Sum over the sampled tokens of the mass that was cut. */
  cutMass: number;
  weightsVersion: number;
  milliseconds: number;
}

export interface TurnRequest {
  session: Session;
  tokenizer: Tokenizer;
  format: CallFormat;
  stopIds: readonly number[];
  sampling: Sampling;
  /** Seed of the part with this index: a turn goes on after a stop string that completed no call. */
  seedOf: (part: number) => number;
  signal: AbortSignal;
}

/**
 * Samples one turn: until its first complete call, the model's turn end, the token limit or the end of the context. A stop
 * string only pauses the sampler; when the text holds no complete call yet, sampling goes on in the same turn.
 */
export async function sampleTurn(request: TurnRequest): Promise<SampledTurn> {
  const { session, tokenizer, format, stopIds, sampling, seedOf, signal } = request;
  const started = performance.now();
  const ids: number[] = [];
  let cutMass = 0;
  for (let part = 0; ; part++) {
    const turn = await session.generate({
      maxNewTokens: sampling.maxNewTokens - ids.length,
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      minP: sampling.minP,
      stop: format.stop,
      seed: seedOf(part),
      signal,
    });
    for (const id of turn.ids) ids.push(id);
    cutMass += turn.truncatedMass * turn.ids.length;
    const last = ids.at(-1);
    const ended = turn.finishReason === 'stop' && turn.ids.length > 0 && stopIds.includes(last as number);
    const text = tokenizer.decode(ended ? ids.slice(0, -1) : ids);
    const paused = turn.finishReason === 'stop' && !ended && !format.isComplete(text);
    if (paused && turn.ids.length > 0 && ids.length < sampling.maxNewTokens) continue;
    return {
      ids: Int32Array.from(ids),
      text,
      // A pause at the very last token is a cut turn, not an ended one.
      finishReason: paused ? 'length' : turn.finishReason,
      ended,
      turnEnd: ended && last === tokenizer.turnEndId,
      cutMass,
      weightsVersion: turn.weightsVersion,
      milliseconds: performance.now() - started,
    };
  }
}
