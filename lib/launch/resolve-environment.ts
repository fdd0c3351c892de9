import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT_IN_ENVIRONMENTS } from '../environments/built-in.js';
import type { CallFormatChoice } from '../environments/formats/index.js';
import type { Environment, Reward, Tool } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import { importFailure } from '../import-failure.js';
import { nearestName } from '../known-keys.js';
import { codeAgentSource } from './code-agent-source.js';
import { demoSource } from './demo-source.js';
import { objectSource, withChoices } from './environment-source.js';
import type { EnvironmentSource } from './environment-source.js';

/** What an environment needs of the configuration. */
export interface EnvironmentRequest {
  environment: string | Environment;
  tasks?: string;
  tools?: readonly (string | Tool)[];
  rewards?: readonly (string | Reward)[];
  maxTurns?: number;
  /** Submissions of a training episode, and of an evaluation episode; 0 = any number. */
  trainSubmissions: number;
  evaluationSubmissions: number;
  distinctSearches: boolean;
  /** @default 0 */
  searchCost?: number;
  /** What the demo's tasks are drawn with. */
  seed: number;
  callFormat?: CallFormatChoice;
  maxNoCallTurns?: number;
  /** @default true */
  keepOrder?: boolean;
  difficulty?: readonly string[];
  passPercentage?: readonly [number, number];
  /** Which tasks to use, and in what order: for an evaluation. */
  choose?: { shuffleSeed?: number; take?: number };
  /** Leave out tasks whose reference solution fails. @default false */
  checkReferences?: boolean;
  signal?: AbortSignal;
  /** One line for the user, e.g. how many tasks were left out. */
  notice?: (line: string) => void;
  sandbox: 'auto' | 'bubblewrap' | 'container' | 'pyodide' | 'process';
  sandboxImage?: string;
  sandboxEngine?: 'docker' | 'podman';
  allowUnsandboxed: boolean;
  python: string;
}

const isEnvironment = (value: unknown): value is Environment =>
  typeof value === 'object' && value !== null && 'name' in value && 'prompt' in value && 'tasks' in value;

async function fromModule(path: string): Promise<Environment> {
  const loaded = (await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    const message = `environment ${path} cannot be imported: ${importFailure(error)}`;
    throw new GrpoError('INVALID_CONFIG', 'config', message, { cause: error });
  })) as { default?: unknown; environment?: unknown };
  const found = loaded.default ?? loaded.environment;
  if (isEnvironment(found)) return found;
  const message = `environment ${path} must have a default export made by defineEnvironment({ ... })`;
  throw new GrpoError('INVALID_CONFIG', 'config', message);
}

async function ownSource(environment: Environment, request: EnvironmentRequest): Promise<EnvironmentSource> {
  if (request.tasks !== undefined) {
    const message = `tasks does not apply here: environment ${environment.name} brings its own tasks`;
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  const chooses = (['difficulty', 'passPercentage'] as const).find((key) => request[key] !== undefined);
  if (chooses !== undefined) {
    throw new GrpoError('INVALID_CONFIG', 'config', `${chooses} does not apply to environment ${environment.name}`);
  }
  return objectSource(environment);
}

async function baseSource(request: EnvironmentRequest): Promise<EnvironmentSource> {
  const { environment } = request;
  if (typeof environment !== 'string') return ownSource(environment, request);
  if (environment === 'code-agent') return codeAgentSource(request);
  if (environment === 'demo') return demoSource(request);
  const looksLikePath = extname(environment) !== '' || environment.includes('/');
  if (looksLikePath && existsSync(environment)) return ownSource(await fromModule(environment), request);
  if (looksLikePath) throw new GrpoError('INVALID_CONFIG', 'config', `environment ${environment} does not exist`);
  const nearest = nearestName(environment, [...BUILT_IN_ENVIRONMENTS]);
  const hint = nearest
    ? `; did you mean ${nearest}?`
    : `; give ${BUILT_IN_ENVIRONMENTS.join(', ')} or the path of a module`;
  throw new GrpoError('INVALID_CONFIG', 'config', `unknown environment ${environment}${hint}`);
}

/**
 * The environment that a configuration names, with the tools and rewards it chooses.
 *
 * @throws {GrpoError} INVALID_CONFIG, INVALID_TASKS, SANDBOX_UNAVAILABLE
 */
export async function resolveEnvironment(request: EnvironmentRequest): Promise<EnvironmentSource> {
  const source = await baseSource(request);
  if (source.tasks.length === 0) {
    await source.close();
    throw new GrpoError('INVALID_TASKS', 'config', `environment ${source.name} has no tasks`);
  }
  const toolNames = () =>
    request.tools === undefined
      ? []
      : source.modes.flatMap((mode) => source.open(mode, 'train').tools.map(({ name }) => name));
  return { ...source, open: (mode, purpose) => withChoices(source.open(mode, purpose), request, toolNames()) };
}
