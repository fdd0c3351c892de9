import { GrpoError } from '../errors.js';
import { bubblewrapLaunch, findBubblewrap } from './bubblewrap.js';
import { findInterpreter } from './interpreter.js';
import { Pool, PRELOAD } from './pool.js';
import { processLaunch } from './process.js';
import type { SandboxBackend, SandboxOptions } from './types.js';

/** One way to run programs; the first that passes a probe is taken. */
export interface Candidate {
  pool: Pool;
  /** Processes and threads of one program at most; 0 = no limit. */
  processes: number;
}

const PROCESSES = 64;

function unavailable(message: string): GrpoError {
  return new GrpoError('SANDBOX_UNAVAILABLE', 'Sandbox.open', message);
}

/**
 * The candidates of a backend in the order to try them: all isolate alike, later ones start slower.
 *
 * @throws SANDBOX_UNAVAILABLE, INVALID_ARGUMENT
 */
export async function candidatesFor(
  options: SandboxOptions,
): Promise<{ backend: SandboxBackend; candidates: Candidate[] }> {
  const backend = options.backend ?? 'auto';
  switch (backend) {
    case 'auto':
    case 'bubblewrap': {
      const program = await findBubblewrap();
      const interpreter = await findInterpreter(options.python ?? 'python3');
      const cold = bubblewrapLaunch(program, interpreter);
      const candidates = [
        {
          pool: new Pool((warmth) => bubblewrapLaunch(program, interpreter, PRELOAD[warmth]), true),
          processes: PROCESSES,
        },
        // Some systems forbid namespaces within namespaces: there each program gets a bubblewrap of its own.
        { pool: new Pool(() => cold, false), processes: PROCESSES },
      ];
      return { backend: 'bubblewrap', candidates };
    }
    case 'process': {
      if (options.allowUnsandboxed !== true) {
        throw unavailable(
          "backend 'process' does not isolate programs from this machine; pass allowUnsandboxed: true (--allow-unsandboxed) to accept that, or use bubblewrap: apt-get install bubblewrap",
        );
      }
      const interpreter = await findInterpreter(options.python ?? 'python3');
      return { backend, candidates: [{ pool: new Pool(() => processLaunch(interpreter), false), processes: 0 }] };
    }
    case 'container':
    case 'pyodide':
      throw unavailable(`backend '${backend}' is not in this version; use bubblewrap: apt-get install bubblewrap`);
    default:
      throw new GrpoError(
        'INVALID_ARGUMENT',
        'Sandbox.open',
        `backend must be 'auto', 'bubblewrap', 'container', 'pyodide' or 'process', found ${JSON.stringify(backend)}`,
      );
  }
}
