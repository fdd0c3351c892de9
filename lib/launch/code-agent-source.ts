import { checkReferences } from '../data/check-references.js';
import { loadTasks } from '../data/load-tasks.js';
import type { CodeTask } from '../data/types.js';
import { codeAgent } from '../environments/code-agent/index.js';
import type { Environment } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { EvaluationMode } from '../run/index.js';
import { Sandbox } from '../sandbox/index.js';
import type { SandboxOptions } from '../sandbox/index.js';
import { openDocumentation } from '../tools/documentation/open.js';
import type { EnvironmentSource } from './environment-source.js';
import type { EnvironmentRequest } from './resolve-environment.js';

/** Modes of the code agent, the full one last. */
export const CODE_MODES: readonly EvaluationMode[] = ['no-tools', 'code-only', 'multi-tool'];
/** 0 submissions stand for any number. */
export const anyNumber = (submissions: number) => (submissions === 0 ? Infinity : submissions);

/** What a configuration says of the sandbox. */
export function sandboxOptions(request: EnvironmentRequest): SandboxOptions {
  const { sandbox: backend, sandboxImage: image, sandboxEngine: engine, python, allowUnsandboxed } = request;
  return { backend, python, image, engine, allowUnsandboxed };
}

/** The tasks whose reference solution passes here, where that was asked for. */
async function withoutBroken(
  tasks: CodeTask[],
  sandbox: Sandbox,
  { checkReferences: isWanted, python, sandboxImage: image, signal, notice }: EnvironmentRequest,
): Promise<{ tasks: CodeTask[]; excluded?: number }> {
  if (isWanted !== true || tasks.every(({ solution }) => solution === undefined)) return { tasks };
  const { kept, excluded } = await checkReferences(tasks, sandbox, { python, image, signal });
  if (excluded.length > 0) {
    const ids = excluded.slice(0, 5).map(({ id, status }) => `${id} (${status})`);
    const more = excluded.length > ids.length ? ', …' : '';
    notice?.(
      `${excluded.length} of ${tasks.length} tasks left out: their own solution fails here: ${ids.join(', ')}${more}`,
    );
  }
  if (kept.length === 0) {
    const message = `no task is left: the reference solution of every one fails here; run 'grpo-native tasks check'`;
    throw new GrpoError('INVALID_TASKS', 'config', message);
  }
  return { tasks: kept, excluded: excluded.length };
}

/**
 * The code agent over a task file, with one sandbox for all its modes.
 *
 * @throws {GrpoError} INVALID_CONFIG without tasks, INVALID_TASKS, SANDBOX_UNAVAILABLE
 */
export async function codeAgentSource(request: EnvironmentRequest): Promise<EnvironmentSource> {
  if (request.tasks === undefined) {
    const message = 'environment code-agent needs tasks: give --tasks FILE (JSONL or Parquet) or a data set of the hub';
    throw new GrpoError('INVALID_CONFIG', 'config', message);
  }
  const { difficulty, passPercentage, choose, signal, notice } = request;
  const load = (source: string) => loadTasks(source, { difficulty, passPercentage, signal, notice });
  const filter = { difficulty, passPercentage, ...choose };
  const loaded: CodeTask[] = await loadTasks(request.tasks, { ...filter, signal, notice });
  const documentation = await openDocumentation(request.python);
  const sandbox = await Sandbox.open(sandboxOptions(request));
  const { tasks, excluded } = await withoutBroken(loaded, sandbox, request).catch(async (error: unknown) => {
    await sandbox.close();
    throw error;
  });
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
      searchCost: request.searchCost,
      callFormat: request.callFormat,
      maxNoCallTurns: request.maxNoCallTurns,
    });
    opened.set(mode, environment);
    return environment;
  };
  return {
    name: 'code-agent',
    modes: CODE_MODES,
    tasks,
    excluded,
    loadTasks: load,
    open,
    close: () => sandbox.close(),
  };
}
