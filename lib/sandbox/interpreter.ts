import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { GrpoError } from '../errors.js';

const execFileAsync = promisify(execFile);

const PROBE = String.raw`
import json, os, sys
name = 'python%d.%d' % sys.version_info[:2]
candidates = [os.path.join(sys.base_prefix, 'bin', name), os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable)]
try:
    import ctypes
    found = True
except ImportError:
    found = False
print(json.dumps({
    'executable': next(path for path in candidates if os.path.exists(path)),
    'prefix': os.path.realpath(sys.base_prefix),
    'version': '%d.%d.%d' % sys.version_info[:3],
    'major': sys.version_info[0],
    'minor': sys.version_info[1],
    'folders': [os.path.realpath(path) for path in sys.path if path and os.path.isdir(path)],
    'ctypes': found,
}))
`;

/** What is known of the Python that programs run with. All paths are the host's. */
export interface Interpreter {
  executable: string;
  /** Folder of the installation (not of a virtual environment). */
  prefix: string;
  version: string;
  /** Import folders, those of a virtual environment among them. */
  folders: string[];
}

/**
 * Asks a Python where it lives.
 *
 * @throws SANDBOX_UNAVAILABLE when it does not start, is older than 3.8 or lacks ctypes
 */
export async function findInterpreter(python: string): Promise<Interpreter> {
  let text: string;
  try {
    text = (await execFileAsync(python, ['-c', PROBE], { timeout: 30_000 })).stdout;
  } catch (cause) {
    throw new GrpoError(
      'SANDBOX_UNAVAILABLE',
      'Sandbox.open',
      `the Python interpreter "${python}" does not start; install it (apt-get install python3) or name another one in the option python`,
      { cause },
    );
  }
  const found = JSON.parse(text) as Interpreter & { major: number; minor: number; ctypes: boolean };
  if (found.major < 3 || (found.major === 3 && found.minor < 8)) {
    throw new GrpoError(
      'SANDBOX_UNAVAILABLE',
      'Sandbox.open',
      `"${python}" is Python ${found.version}; 3.8 or later is needed`,
    );
  }
  if (!found.ctypes) {
    throw new GrpoError(
      'SANDBOX_UNAVAILABLE',
      'Sandbox.open',
      `"${python}" was built without ctypes, which the sandbox needs to give up rights; install libffi-dev and build it again, or use another Python`,
    );
  }
  return { executable: found.executable, prefix: found.prefix, version: found.version, folders: found.folders };
}

/** Where the interpreter lies inside the sandbox. */
export interface InterpreterLayout {
  executable: string;
  /** [host folder, folder inside], to be bound read-only. */
  binds: [string, string][];
  /** Folders inside to be added as site folders. */
  sites: string[];
  /** Package folders inside that belong to it: a virtual environment does not show those of its base. */
  packages: string[];
  /** For LD_LIBRARY_PATH; undefined where the system's own search is enough. */
  libraryFolder: string | undefined;
}

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Maps an interpreter to neutral paths: nothing inside tells whose home it lies in. */
export function layOut(interpreter: Interpreter): InterpreterLayout {
  const binds: [string, string][] = [];
  const systemWide = within(interpreter.prefix, '/usr');
  if (!systemWide) binds.push([interpreter.prefix, '/python']);
  const inside = (path: string): string | undefined => {
    if (within(path, '/usr')) return path;
    return !systemWide && within(path, interpreter.prefix)
      ? `/python${path.slice(interpreter.prefix.length)}`
      : undefined;
  };
  const sites: string[] = [];
  for (const folder of interpreter.folders) {
    if (inside(folder) === undefined) {
      const target = `/packages/${sites.length}`;
      binds.push([folder, target]);
      sites.push(target);
    }
  }
  const executable = inside(interpreter.executable);
  if (executable === undefined) {
    throw new GrpoError(
      'SANDBOX_UNAVAILABLE',
      'Sandbox.open',
      `the interpreter ${interpreter.executable} lies outside its own installation ${interpreter.prefix}; name another one in the option python`,
    );
  }
  const packages = interpreter.folders.flatMap((folder) => inside(folder) ?? []);
  return { executable, binds, sites, packages, libraryFolder: systemWide ? undefined : '/python/lib' };
}
