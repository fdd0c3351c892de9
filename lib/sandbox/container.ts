import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { GrpoError } from '../errors.js';
import { cleanEnvironment } from './environment.js';
import { SUPERVISOR_SOURCE, TESTS_SOURCE } from './python/supervisor.js';
import type { Launch } from './worker.js';

const execFileAsync = promisify(execFile);
const DISK_BYTES = 128 * 2 ** 20;
const REMOVE_MS = 20_000;
const VERSION_MS = 10_000;
/** What the supervisor itself may use beside the program, in MB. */
const OVERHEAD_MB = 256;
/** Nobody's user and group. */
const USER = '65534:65534';

/** The image that is used where none is named; it must be on the machine already. */
export const DEFAULT_IMAGE = 'python:3.12-slim';

export type EngineName = 'docker' | 'podman';

/** A container engine of this machine. */
export interface Engine {
  /** Full path of its client. */
  path: string;
  /** What it says it is: a `docker` may be Podman by another name. */
  kind: EngineName;
}

/**
 * The container engines on the PATH, in the order to try them.
 *
 * @param wanted only this one
 */
export async function findEngines(wanted?: EngineName): Promise<Engine[]> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = wanted === undefined ? (['docker', 'podman'] as const) : [wanted];
  const paths = names.flatMap(
    (name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? [],
  );
  return Promise.all(
    paths.map(async (path) => {
      // One that does not start is tried all the same: the failure of its first program says why.
      const said = await execFileAsync(path, ['--version'], { timeout: VERSION_MS }).catch(() => ({ stdout: '' }));
      return { path, kind: /podman/i.test(said.stdout) ? 'podman' : 'docker' } as const;
    }),
  );
}

/** The options of `run` that close a container off from the machine; all but the name, the image and the command. */
export function containerLimits(kind: EngineName, memoryMb: number, processes: number): string[] {
  const memory = `${memoryMb + OVERHEAD_MB}m`;
  const folder = `rw,nosuid,nodev,mode=1777,size=${DISK_BYTES}`;
  // Podman fills a temporary folder from the image, with the image's rights, and makes more of them, without a size.
  const own = kind === 'podman' ? ['--read-only-tmpfs=false'] : [];
  const empty = kind === 'podman' ? ',notmpcopyup' : '';
  return [
    ...['--rm', '--interactive', '--pull', 'never', '--log-driver', 'none', '--network', 'none', '--read-only', ...own],
    ...['--tmpfs', `/tmp:${folder}${empty}`, '--tmpfs', `/dev/shm:${folder}${empty}`],
    ...['--memory', memory, '--memory-swap', memory, '--pids-limit', String(processes + 8)],
    ...['--user', USER, '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--hostname', 'sandbox', '--workdir', '/tmp', '--entrypoint', ''],
  ];
}

let started = 0;

/**
 * How one program is started in a container of its own: the supervisor is the first process there, and the container
 * ends with it.
 */
export function containerLaunch(
  engine: Engine,
  image: string,
  python: string,
  memoryMb: number,
  processes: number,
): Launch {
  const name = `grpo-native-${process.pid}-${++started}`;
  const config = {
    owner: process.pid,
    isolated: true,
    warm: false,
    mountProc: false,
    users: null,
    mounts: ['/tmp', '/dev/shm'],
    diskBytes: DISK_BYTES,
    sites: [],
    packages: null,
    preload: [],
    tests: TESTS_SOURCE,
  };
  const environment = Object.entries(cleanEnvironment('/tmp')).flatMap(([key, value]) =>
    key === 'PATH' ? [] : ['--env', `${key}=${value}`],
  );
  return {
    command: engine.path,
    args: [
      ...['run', '--name', name, ...containerLimits(engine.kind, memoryMb, processes), ...environment, image],
      ...[python, '-s', '-c', SUPERVISOR_SOURCE, JSON.stringify(config)],
    ],
    // The engine's own client: it finds its settings and its daemon by the caller's environment; the program sees none of it.
    environment: Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    inputs: [],
    folder: '/tmp/program',
    endsItself: true,
    memoryExitCode: 137,
    cleanUp: () => removeContainer(engine.path, name),
  };
}

/** Kills and removes a container, whether it still runs or was never started. */
async function removeContainer(engine: string, name: string): Promise<void> {
  try {
    await execFileAsync(engine, ['rm', '--force', name], { timeout: REMOVE_MS });
  } catch (cause) {
    const stderr = String((cause as { stderr?: string }).stderr);
    // Without a daemon nothing was started; the error of the start says so.
    if (/no such container|no container with|cannot connect to|is the docker daemon running/i.test(stderr)) return;
    throw new GrpoError(
      'SANDBOX_FAILED',
      'sandbox',
      `the container ${name} could not be removed; run ${engine} rm --force ${name}`,
      {
        cause,
      },
    );
  }
}
