import type { Environment, Reward, Task, Tool } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { EvaluationMode } from '../run/index.js';

/** Opens an environment for one mode and purpose; what training and evaluation draw their episodes from. */
export interface EnvironmentSource {
  readonly name: string;
  /** Modes it can be opened in, the full one last. */
  readonly modes: readonly EvaluationMode[];
  readonly tasks: readonly Task[];
  /** Tasks of another file, in the same form. */
  loadTasks: (path: string) => Promise<Task[]>;
  open: (mode: EvaluationMode, purpose: 'train' | 'eval') => Environment;
  close: () => Promise<void>;
}

/** Entries chosen by name or given as objects; the given list replaces the environment's. */
function chosen<T extends { name: string }>(kind: string, own: readonly T[], wanted: readonly (string | T)[]): T[] {
  return wanted.map((entry) => {
    if (typeof entry !== 'string') return entry;
    const found = own.find((candidate) => candidate.name === entry);
    if (found) return found;
    const names = own.map((candidate) => candidate.name).join(', ');
    throw new GrpoError('INVALID_CONFIG', 'config', `${kind} ${entry} is unknown; the environment has: ${names}`);
  });
}

/**
 * The environment with the tools and rewards that the configuration names.
 *
 * @throws {GrpoError} INVALID_CONFIG on an unknown name
 */
export function withChoices(
  environment: Environment,
  choices: { tools?: readonly (string | Tool)[]; rewards?: readonly (string | Reward)[] },
): Environment {
  return {
    ...environment,
    ...(choices.tools ? { tools: chosen('tool', environment.tools, choices.tools) } : {}),
    ...(choices.rewards ? { rewards: chosen('reward', environment.rewards, choices.rewards) } : {}),
  };
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
