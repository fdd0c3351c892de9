import { resolveGenerateConfig } from '../config/index.js';
import type { GenerateInput } from '../config/index.js';
import { environmentFor } from '../environments/adapt.js';
import type { EpisodeTurn, Message, Task } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import { nearestName } from '../known-keys.js';
import { loadPolicy, resolveEnvironment } from '../launch/index.js';
import type { PolicyLike } from '../policy/types.js';
import { Limit, runGroup } from '../rollout/index.js';
import type { Episode } from '../rollout/index.js';

/** Beside the configuration: what a caller may bring. */
export interface GenerateOptions {
  /** Use this policy instead of loading `model`; it is not closed. */
  policy?: PolicyLike;
  signal?: AbortSignal;
  /** Before the first turn. */
  onPrompt?: (messages: Message[]) => void;
  /** After each turn, with the messages that follow it. */
  onTurn?: (turn: EpisodeTurn, next: Message[]) => void;
}

function chooseTask(tasks: readonly Task[], id: string | undefined): Task {
  const found = id === undefined ? tasks[0] : tasks.find((task) => task.id === id);
  if (found) return found;
  const nearest = nearestName(
    id ?? '',
    tasks.map((task) => task.id),
  );
  throw new GrpoError(
    'INVALID_CONFIG',
    'config',
    `there is no task ${id}${nearest ? `; did you mean ${nearest}?` : ''}`,
  );
}

/**
 * Runs one episode of one task, tools on.
 *
 * @throws {GrpoError} INVALID_CONFIG, INVALID_TASKS, and what policy and sandbox throw
 */
export async function generate(input: GenerateInput, options: GenerateOptions = {}): Promise<Episode> {
  const config = resolveGenerateConfig(input);
  if (!options.policy && config.model === undefined) await loadPolicy(undefined, {});
  const source = await resolveEnvironment({
    ...config,
    trainSubmissions: config.maxSubmissions,
    evaluationSubmissions: config.maxSubmissions,
    distinctSearches: false,
    signal: options.signal,
  });
  try {
    if (!source.modes.includes(config.mode)) {
      const message = `mode ${config.mode} does not apply here: environment ${source.name} has ${source.modes.join(', ')}`;
      throw new GrpoError('INVALID_CONFIG', 'config', message);
    }
    const environment = source.open(config.mode, 'eval');
    const task = chooseTask(source.unseen?.tasks ?? source.tasks, config.task);
    const { device, dtype, maxContext, seed, strict, adapter, temperature, topP, topK, minP, maxNewTokens } = config;
    const policy =
      options.policy ??
      (await loadPolicy(config.model, { device, dtype, maxContext, seed, strict, train: 'none', adapter }));
    try {
      const spoken = policy.tokenizer ? environmentFor(environment, policy.tokenizer) : environment;
      options.onPrompt?.(spoken.prompt(task));
      const [episode] = await runGroup({
        policy,
        environment,
        task,
        samples: 1,
        sampling: { temperature, topP, topK, minP, maxNewTokens },
        maxTurns: environment.maxTurns,
        purpose: 'eval',
        seedParts: [seed, 'generate'],
        limit: new Limit(1),
        signal: options.signal ?? new AbortController().signal,
        onTurn: options.onTurn,
      });
      return episode as Episode;
    } finally {
      if (!options.policy) await policy.close();
    }
  } finally {
    await source.close();
  }
}
