import { mergeTrainInputs, orDemo, resolveTrainConfig } from '../config/index.js';
import type { TrainInput } from '../config/index.js';
import { nextTasks } from '../algorithms/index.js';
import { GrpoError } from '../errors.js';
import { resolveEnvironment } from '../launch/index.js';
import type { SessionRow } from '../policy/types.js';
import { Limit, runGroup } from '../rollout/index.js';
import type { Tokenizer } from '../tokenizer/types.js';
import { loadTrained } from './load-trained.js';
import type { TrainOptions } from './prepare.js';
import { selfCheck } from './self-check.js';
import type { SelfCheck } from './self-check.js';

/** What `train --check` found. */
export interface CheckedRun {
  checks: SelfCheck[];
  /** One episode's text; what the policy sampled (mask 1) between the marks. */
  marked: string;
}

const EPISODES = 2;
const MOST_NEW_TOKENS = 64;

/** The text of a row, with `open` and `close` around what the policy sampled. */
export function markSampled({ ids, mask }: SessionRow, tokenizer: Tokenizer, open: string, close: string): string {
  let text = '';
  for (let start = 0; start < ids.length;) {
    let end = start + 1;
    while (end < ids.length && mask[end] === mask[start]) end++;
    const part = tokenizer.decode(ids.subarray(start, end));
    text += mask[start] === 1 ? `${open}${part}${close}` : part;
    start = end;
  }
  return text;
}

/**
 * Samples two short episodes with a configuration and measures whether it can be trained; no run folder is made.
 *
 * @param marks what stands around sampled text, e.g. colours of a terminal
 * @throws {GrpoError} INVALID_CONFIG, INVALID_TASKS, EPISODES_INVALID, and what policy and sandbox throw
 */
export async function checkRun(
  input: TrainInput,
  options: TrainOptions = {},
  marks: [string, string] = ['[', ']'],
): Promise<CheckedRun> {
  const given = options.policy ? input : orDemo(mergeTrainInputs(input));
  const config = resolveTrainConfig(mergeTrainInputs(given, { temperature: 1, topP: 1, topK: 0, minP: 0 }));
  const signal = options.signal ?? new AbortController().signal;
  const source = await resolveEnvironment({ ...config, trainSubmissions: 1, evaluationSubmissions: 1 });
  try {
    const policy = await loadTrained(config, undefined, options, options.signal);
    try {
      const environment = source.open(source.modes.at(-1) ?? 'multi-tool', 'train');
      const { maxNewTokens, seed } = config;
      const [task] = nextTasks(source.tasks, { drawn: 0 }, 1, seed);
      const episodes = await runGroup({
        policy,
        environment,
        task: task as (typeof source.tasks)[number],
        samples: EPISODES,
        sampling: { temperature: 1, topP: 1, topK: 0, minP: 0, maxNewTokens: Math.min(maxNewTokens, MOST_NEW_TOKENS) },
        maxTurns: config.maxTurns ?? environment.maxTurns,
        purpose: 'train',
        seedParts: [seed, 'check'],
        limit: new Limit(EPISODES),
        signal,
      });
      const rows = episodes.flatMap(({ row }) => row ?? []);
      const [first] = rows;
      if (first === undefined || !policy.tokenizer) {
        const reason = episodes.map(({ invalid }) => invalid).join('; ');
        throw new GrpoError('EPISODES_INVALID', 'check', `no episode could be run: ${reason}`);
      }
      const dtype = config.dtype === 'auto' ? (policy.description?.dtype ?? 'float32') : config.dtype;
      const reload = (checkpoint: string) => loadTrained(config, checkpoint, options, options.signal);
      const marked = markSampled(first, policy.tokenizer, ...marks);
      return { checks: await selfCheck({ policy, reload, rows, train: config.train, dtype }), marked };
    } finally {
      await policy.close();
    }
  } finally {
    await source.close();
  }
}
