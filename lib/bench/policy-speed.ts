import type { Policy, Session } from '../policy/index.js';
import { measure } from './measure.js';

/** What one kind of work of a policy costs. */
export interface PolicySpeed {
  name: string;
  /** Tokens of one round. */
  tokens: number;
  /** Of the round in the middle. */
  seconds: number;
  tokensPerSecond: number;
  /** By this process's time on all processors. */
  tokensPerProcessorSecond: number;
  /** Only of updates: the most memory that one held beside the weights. */
  peakBytes?: number;
}

/** What is measured. */
export interface PolicyBench {
  /** New tokens of each sequence. */
  newTokens: number;
  rounds: number;
  /** What is measured next. */
  onStart?: (name: string) => void;
}

const SEQUENCES = [1, 8, 32];
const PROMPT_TOKENS = 40;
const ROWS = 8;
const ROW_TOKENS = 512;
/** Where the sampled part of a row begins. */
const SAMPLED_FROM = 64;
const SPREAD = 4000;

/** Made-up ids of a row; nothing that is measured depends on what they mean. */
const idsOf = (row: number, length: number, vocabSize: number) =>
  Array.from({ length }, (_, t) => (100 + ((row * 31 + t * 17) % SPREAD)) % vocabSize);

/**
 * Tokens a second of decoding 1, 8 and 32 sequences at once, and of scoring and updating 8 rows of 512 tokens (of the whole
 * context, where that is shorter). The adapter is updated meanwhile.
 */
export async function measurePolicy(policy: Policy, bench: PolicyBench): Promise<PolicySpeed[]> {
  const { vocabSize } = policy.description;
  const { rounds } = bench;
  const prompt = idsOf(0, Math.min(PROMPT_TOKENS, Math.floor(policy.maxContext / 4)), vocabSize);
  const newTokens = Math.min(bench.newTokens, policy.maxContext - prompt.length - 1);
  const speeds: PolicySpeed[] = [];
  async function add<T>(
    name: string,
    tokens: number,
    prepare: () => Promise<T>,
    work: (prepared: T) => Promise<unknown>,
    extra: () => Partial<PolicySpeed> = () => ({}),
  ): Promise<void> {
    bench.onStart?.(name);
    const { seconds, processorSeconds } = await measure(rounds, prepare, work);
    const [tokensPerSecond, tokensPerProcessorSecond] = [tokens / seconds, tokens / processorSeconds];
    speeds.push({ name, tokens, seconds, tokensPerSecond, tokensPerProcessorSecond, ...extra() });
  }
  const generate = (sessions: Session[], maxNewTokens: number) =>
    Promise.all(sessions.map((session, seed) => session.generate({ maxNewTokens, seed, stopIds: [] })));
  for (const count of SEQUENCES) {
    const open: Session[] = [];
    const prepare = async () => {
      open.splice(0).forEach((session) => session.close());
      for (let index = 0; index < count; index++) open.push(await policy.open(prompt));
      // The first token computes the prompt, which is no decoding.
      await generate(open, 1);
      return open;
    };
    const name = count === 1 ? 'decode, 1 sequence' : `decode, ${count} sequences`;
    await add(name, count * newTokens, prepare, (sessions) => generate(sessions, newTokens));
    open.forEach((session) => session.close());
  }
  const length = Math.min(ROW_TOKENS, policy.maxContext);
  const ids = Array.from({ length: ROWS }, (_, row) => idsOf(row, length, vocabSize));
  const nothing = () => Promise.resolve();
  await add(`score, ${ROWS} rows of ${length}`, ROWS * length, nothing, () => policy.logprobs(ids));
  const rows = ids.map((row, b) => ({
    ids: row,
    mask: row.map((_, t) => (t < Math.min(SAMPLED_FROM, length / 2) ? 0 : 1)),
    advantage: b - (ROWS - 1) / 2,
  }));
  let peakBytes = 0;
  const update = async () => {
    peakBytes = Math.max(peakBytes, (await policy.update({ rows })).peakBytes);
  };
  await add(`update, ${ROWS} rows of ${length}`, ROWS * length, nothing, update, () => ({ peakBytes }));
  return speeds;
}
