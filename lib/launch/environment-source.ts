import { withCallFormat } from '../environments/adapt.js';
import { BUILT_IN_ENVIRONMENTS } from '../environments/built-in.js';
import type { CallFormatChoice } from '../environments/formats/index.js';
import type { Environment, Reward, Task, Tool } from '../environments/types.js';
import { checkRewardOrder } from '../rewards/order.js';
import { GrpoError } from '../errors.js';
import type { EvaluationMode } from '../run/index.js';

/** Opens an environment for one mode and purpose; what training and evaluation draw their episodes from. */
export interface EnvironmentSource {
  readonly name: string;
  /** Modes it can be opened in, the full one last. */
  readonly modes: readonly EvaluationMode[];
  readonly tasks: readonly Task[];
  /** Tasks that are for evaluation only, and what their split is called; undefined where a part of `tasks` is held out. */
  readonly unseen?: { tasks: readonly Task[]; split: string };
  /** Tasks that were left out because their own solution failed; undefined where that was not checked. */
  readonly excluded?: number;
  /** Tasks of another file, in the same form. */
  loadTasks: (path: string) => Promise<Task[]>;
  open: (mode: EvaluationMode, purpose: 'train' | 'eval') => Environment;
  close: () => Promise<void>;
}

/**
 * Entries chosen by name or given as objects; the given list replaces the environment's.
 *
 * @param elsewhere names that other modes know: left out here
 */
function chosen<T extends { name: string }>(
  kind: string,
  own: readonly T[],
  wanted: readonly (string | T)[],
  elsewhere: readonly string[] = [],
): T[] {
  return wanted.flatMap((entry) => {
    if (typeof entry !== 'string') return [entry];
    const found = own.find((candidate) => candidate.name === entry);
    if (found) return [found];
    if (elsewhere.includes(entry)) return [];
    const colon = entry.lastIndexOf(':');
    if (colon > 0 && own.some((candidate) => candidate.name === entry.slice(0, colon))) {
      const message = `${kind} ${entry}: what follows the colon must be a number, the weight`;
      throw new GrpoError('INVALID_CONFIG', 'config', message);
    }
    const names = [...new Set([...own.map((candidate) => candidate.name), ...elsewhere])].join(', ');
    throw new GrpoError('INVALID_CONFIG', 'config', `${kind} ${entry} is unknown; the environment has: ${names}`);
  });
}

/** `name` or `name:weight`. */
function chosenRewards(environment: Environment, wanted: readonly (string | Reward)[]): Reward[] {
  const known = [...environment.rewards, ...(environment.otherRewards ?? [])];
  return wanted.flatMap((entry) => {
    const [, name, weight] = (typeof entry === 'string' && /^(.+):(-?[\d.]+(?:e-?\d+)?)$/.exec(entry)) || [];
    if (name === undefined) return chosen('reward', known, [entry]);
    return chosen('reward', known, [name]).map((reward) => ({ ...reward, weight: Number(weight) }));
  });
}

/** What a configuration chooses of an environment. */
export interface EnvironmentChoices {
  tools?: readonly (string | Tool)[];
  rewards?: readonly (string | Reward)[];
  callFormat?: CallFormatChoice;
  maxNoCallTurns?: number;
  /** @default true */
  keepOrder?: boolean;
}

/**
 * The environment with the tools, rewards and call format that the configuration names.
 *
 * @param allTools names of the tools of all its modes: one that this mode lacks is left out of it
 *
 * @throws {GrpoError} INVALID_CONFIG on an unknown name, or rewards under which failing can pay as much as passing
 */
export function withChoices(
  environment: Environment,
  choices: EnvironmentChoices,
  allTools: readonly string[] = [],
): Environment {
  const { tools, rewards, callFormat, maxNoCallTurns } = choices;
  const own: Environment = {
    ...environment,
    // A mode without tools stays one.
    ...(tools && environment.tools.length > 0 ? { tools: chosen('tool', environment.tools, tools, allTools) } : {}),
    ...(rewards ? { rewards: chosenRewards(environment, rewards) } : {}),
    ...(maxNoCallTurns === undefined || environment.tools.length === 0 ? {} : { maxNoCallTurns }),
  };
  if (choices.keepOrder !== false) checkRewardOrder(own.rewards);
  return callFormat === undefined || BUILT_IN_ENVIRONMENTS.includes(environment.name)
    ? own
    : withCallFormat(own, callFormat);
}

/** A source over an environment object: one mode, its own tasks. */
export function objectSource(environment: Environment): EnvironmentSource {
  return {
    name: environment.name,
    modes: ['multi-tool'],
    tasks: environment.tasks,
    loadTasks: async (path) => {
      const message = `environment ${environment.name} brings its own tasks; ${path} cannot be read for it`;
      throw new GrpoError('INVALID_CONFIG', 'config', message);
    },
    open: () => environment,
    close: async () => environment.close?.(),
  };
}
