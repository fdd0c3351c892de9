import { loadTasks } from '../data/load-tasks.js';
import type { CodeTask } from '../data/types.js';
import { codeAgent } from '../environments/code-agent/index.js';
import type { Environment } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { EvaluationMode } from '../run/index.js';
import { Sandbox } from '../sandbox/index.js';
import { openDocumentation } from '../tools/documentation/open.js';
import type { EnvironmentSource } from './environment-source.js';
import type { EnvironmentRequest } from './resolve-environment.js';

const MODES: readonly EvaluationMode[] = ['no-tools', 'code-only', 'multi-tool'];
const anyNumber = (submissions: number) => (submissions === 0 ? Infinity : submissions);

/**
 * The code agent over a task file, with one sandbox for all its modes.
 *
 * @throws {GrpoError} INVALID_CONFIG without tasks, INVALID_TASKS, SANDBOX_UNAVAILABLE
 */
export async function codeAgentSource(request: EnvironmentRequest): Promise<EnvironmentSource> {
  if (request.tasks === undefined) {
    const message = 'environment code-agent needs tasks: give --tasks FILE (JSONL)';
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  const tasks: CodeTask[] = await loadTasks(request.tasks);
  const { sandbox: backend, python, allowUnsandboxed } = request;
  const documentation = await openDocumentation(python);
  const sandbox = await Sandbox.open({ backend, python, allowUnsandboxed });
  const opened = new Map<EvaluationMode, Environment>();
  const open = (mode: EvaluationMode): Environment => {
    const known = opened.get(mode);
    if (known) return known;
    const environment = codeAgent({
      tasks,
      sandbox,
      documentation,
      mode,
      ...(mode === 'multi-tool' && request.maxTurns !== undefined ? { maxTurns: request.maxTurns } : {}),
      maxSubmissions: anyNumber(request.trainSubmissions),
      maxEvalSubmissions: anyNumber(request.evaluationSubmissions),
      distinctSearches: request.distinctSearches,
    });
    opened.set(mode, environment);
    return environment;
  };
  return {
    name: 'code-agent',
    modes: MODES,
    tasks,
    loadTasks,
    open,
    close: () => sandbox.close(),
  };
}
