import { GrpoError } from '../errors.js';
import { checkKeys, ensure } from '../known-keys.js';
import { bubblewrapLaunch, findBubblewrap } from './bubblewrap.js';
import type { BubblewrapProgram } from './bubblewrap.js';
import { containerLaunch, DEFAULT_IMAGE, findEngines } from './container.js';
import { findInterpreter } from './interpreter.js';
import { Pool, PRELOAD } from './pool.js';
import { processLaunch } from './process.js';
import { findPyodide } from './pyodide/launch.js';
import { PyodideRunner } from './pyodide/runner.js';
import type { Runner } from './runner.js';
import type { SandboxBackend, SandboxOptions } from './types.js';

/** One way to run programs; the first that passes a probe is taken. */
export interface Candidate {
  backend: SandboxBackend;
  /** What messages call it. */
  name: string;
  pool: Runner;
  /** Processes and threads of one program at most; 0 = no limit. */
  processes: number;
}

/** What can be tried, in order, and why the rest cannot. */
export interface Candidates {
  candidates: Candidate[];
  reasons: string[];
}

const PROCESSES = 64;
const INSTALL = 'apt-get install bubblewrap';

function unavailable(message: string): GrpoError {
  return new GrpoError('SANDBOX_UNAVAILABLE', 'Sandbox.open', message);
}

async function bubblewrapCandidates(program: BubblewrapProgram, python: string): Promise<Candidate[]> {
  const interpreter = await findInterpreter(python);
  const cold = bubblewrapLaunch(program, interpreter);
  const shared = { backend: 'bubblewrap' as const, name: 'bubblewrap', processes: PROCESSES };
  return [
    { ...shared, pool: new Pool((warmth) => bubblewrapLaunch(program, interpreter, PRELOAD[warmth]), true) },
    // Some systems forbid namespaces within namespaces: there each program gets a bubblewrap of its own.
    { ...shared, pool: new Pool(() => cold, false) },
  ];
}

async function containerCandidates(options: SandboxOptions): Promise<Candidate[]> {
  const image = options.image ?? DEFAULT_IMAGE;
  const python = options.python ?? 'python3';
  const engines = await findEngines(options.engine);
  return engines.map((engine) => ({
    backend: 'container',
    name: `${engine.path} with the image ${image}`,
    pool: new Pool((_, job) => containerLaunch(engine, image, python, job.limits.memoryMb, PROCESSES), false),
    // The engine counts them: the kernel's limit for a user would count those of all containers together.
    processes: 0,
  }));
}

const OPTIONS = ['backend', 'python', 'image', 'engine', 'reuse', 'allowUnsandboxed'];

/** @throws INVALID_ARGUMENT, also where image or engine are given and no container can come of it */
function checkBackendOptions(options: SandboxOptions): void {
  const isObject = typeof options === 'object' && options !== null;
  ensure('Sandbox.open', isObject, `an object of options is needed, found ${JSON.stringify(options)}`);
  checkKeys('Sandbox.open', options, OPTIONS);
  const { backend = 'auto', image, engine, reuse, python = 'python3' } = options;
  const isName = typeof python === 'string' && python !== '';
  ensure('Sandbox.open', isName, `python must be the name or path of an interpreter, found ${JSON.stringify(python)}`);
  if (reuse === true && backend !== 'pyodide') {
    const message = `reuse does not apply to backend '${backend}', only to 'pyodide'`;
    throw new GrpoError('INVALID_ARGUMENT', 'Sandbox.open', message);
  }
  if (engine !== undefined && engine !== 'docker' && engine !== 'podman') {
    throw new GrpoError(
      'INVALID_ARGUMENT',
      'Sandbox.open',
      `engine must be 'docker' or 'podman', found ${JSON.stringify(engine)}`,
    );
  }
  if (image !== undefined && (typeof image !== 'string' || !/^[\w][\w./:@-]*$/.test(image))) {
    throw new GrpoError(
      'INVALID_ARGUMENT',
      'Sandbox.open',
      `image must be the name of a container image, such as ${DEFAULT_IMAGE}, found ${JSON.stringify(image)}`,
    );
  }
  const given = image !== undefined ? 'image' : engine !== undefined ? 'engine' : undefined;
  if (given !== undefined && backend !== 'container' && backend !== 'auto') {
    throw new GrpoError(
      'INVALID_ARGUMENT',
      'Sandbox.open',
      `${given} does not apply here: it needs backend 'container'`,
    );
  }
}

async function automatic(options: SandboxOptions): Promise<Candidates> {
  const reasons: string[] = [];
  const candidates: Candidate[] = [];
  const program = await findBubblewrap().catch((error: unknown) => {
    if (!(error instanceof GrpoError) || error.code !== 'SANDBOX_UNAVAILABLE') throw error;
    reasons.push(error.message);
    return undefined;
  });
  // An interpreter that is not there is the caller's slip, and no reason to look for containers.
  if (program !== undefined) candidates.push(...(await bubblewrapCandidates(program, options.python ?? 'python3')));
  candidates.push(...(await containerCandidates(options)));
  return { candidates, reasons };
}

/**
 * The candidates of a backend in the order to try them.
 *
 * @throws SANDBOX_UNAVAILABLE, INVALID_ARGUMENT
 */
export async function candidatesFor(options: SandboxOptions): Promise<Candidates> {
  checkBackendOptions(options);
  const backend = options.backend ?? 'auto';
  const python = options.python ?? 'python3';
  switch (backend) {
    case 'auto':
      return automatic(options);
    case 'bubblewrap':
      return { candidates: await bubblewrapCandidates(await findBubblewrap(), python), reasons: [] };
    case 'container': {
      const candidates = await containerCandidates(options);
      if (candidates.length === 0) {
        const missing = options.engine
          ? `${options.engine} was not found; install it`
          : 'neither docker nor podman was found; install one';
        throw unavailable(`${missing}, or bubblewrap: ${INSTALL}`);
      }
      return { candidates, reasons: [] };
    }
    case 'process': {
      if (options.allowUnsandboxed !== true) {
        throw unavailable(
          `backend 'process' does not isolate programs from this machine; pass allowUnsandboxed: true (--allow-unsandboxed) to accept that, or use bubblewrap: ${INSTALL}`,
        );
      }
      const interpreter = await findInterpreter(python);
      const pool = new Pool(() => processLaunch(interpreter), false);
      return { candidates: [{ backend, name: backend, pool, processes: 0 }], reasons: [] };
    }
    case 'pyodide':
      return {
        candidates: [{ backend, name: backend, pool: new PyodideRunner(findPyodide(), options.reuse), processes: 0 }],
        reasons: [],
      };
    default:
      throw new GrpoError(
        'INVALID_ARGUMENT',
        'Sandbox.open',
        `backend must be 'auto', 'bubblewrap', 'container', 'pyodide' or 'process', found ${JSON.stringify(backend)}`,
      );
  }
}
