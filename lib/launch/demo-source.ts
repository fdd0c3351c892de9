import { demoAgent, demoDocumentation, drawDemoTasks } from '../environments/demo/index.js';
import type { Environment } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { EvaluationMode } from '../run/index.js';
import { Sandbox } from '../sandbox/index.js';
import { anyNumber, CODE_MODES, sandboxOptions } from './code-agent-source.js';
import type { EnvironmentSource } from './environment-source.js';
import type { EnvironmentRequest } from './resolve-environment.js';

const SIZES = { training: 256, unseen: 128 };

/**
 * A sandbox for the demo, which has to run where nothing was prepared: its programs may run in WebAssembly where there is
 * neither bubblewrap nor a container. Only the demo may: its model and its tasks are this package's own.
 */
async function openSandbox(request: EnvironmentRequest): Promise<Sandbox> {
  const { sandbox, notice } = request;
  try {
    const reuse = sandbox === 'pyodide' ? { reuse: true } : {};
    return await Sandbox.open({ ...sandboxOptions(request), ...reuse });
  } catch (error) {
    const isMissing = error instanceof GrpoError && error.code === 'SANDBOX_UNAVAILABLE';
    if (!isMissing || sandbox !== 'auto') throw error;
    const opened = await Sandbox.open({ backend: 'pyodide', reuse: true });
    notice?.(
      "neither bubblewrap nor a container engine is here: the demo's programs run in Pyodide (Python in WebAssembly)",
    );
    return opened;
  }
}

/**
 * The demo: tasks drawn by the seed, a documentation of what they need, one sandbox for all modes.
 *
 * @throws {GrpoError} INVALID_CONFIG with tasks of one's own, SANDBOX_UNAVAILABLE
 */
export async function demoSource(request: EnvironmentRequest): Promise<EnvironmentSource> {
  const given = (['tasks', 'difficulty', 'passPercentage'] as const).find((key) => request[key] !== undefined);
  if (given !== undefined) {
    throw new GrpoError(
      'INVALID_CONFIG',
      'config',
      `${given} does not apply here: environment demo draws its own tasks`,
    );
  }
  const tasks = drawDemoTasks(request.seed, SIZES);
  const documentation = demoDocumentation(tasks);
  const sandbox = await openSandbox(request);
  const opened = new Map<EvaluationMode, Environment>();
  const open = (mode: EvaluationMode): Environment => {
    const known = opened.get(mode);
    if (known) return known;
    const environment = demoAgent(
      {
        tasks,
        sandbox,
        mode,
        ...(mode === 'multi-tool' && request.maxTurns !== undefined ? { maxTurns: request.maxTurns } : {}),
        maxSubmissions: anyNumber(request.trainSubmissions),
        maxEvalSubmissions: anyNumber(request.evaluationSubmissions),
        searchCost: request.searchCost,
      },
      documentation,
    );
    opened.set(mode, environment);
    return environment;
  };
  return {
    name: 'demo',
    modes: CODE_MODES,
    tasks: tasks.training,
    unseen: { tasks: tasks.unseen, split: 'unseen' },
    loadTasks: async (path) => {
      const message = `evalTasks does not apply here: environment demo draws its own tasks; ${path} cannot be read for it`;
      throw new GrpoError('INVALID_CONFIG', 'config', message);
    },
    open,
    close: () => sandbox.close(),
  };
}
