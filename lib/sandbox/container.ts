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
/** What the supervisor itself may use beside the program, in MB. */
const OVERHEAD_MB = 256;
/** Nobody's user and group. */
const USER = '65534:65534';

/** The image that is used where none is named; it must be on the machine already. */
export const DEFAULT_IMAGE = 'python:3.12-slim';

/** Full paths of the container engines on the PATH, in the order to try them. */
export function findEngines(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return ['docker', 'podman'].flatMap(
    (name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? [],
  );
}

/** The options of `run` that close a container off from the machine; all but the name, the image and the command. */
export function containerLimits(memoryMb: number, processes: number): string[] {
  const memory = `${memoryMb + OVERHEAD_MB}m`;
  const folder = `rw,nosuid,nodev,mode=1777,size=${DISK_BYTES}`;
  return [
    ...['--rm', '--interactive', '--pull', 'never', '--log-driver', 'none', '--network', 'none', '--read-only'],
    ...['--tmpfs', `/tmp:${folder}`, '--tmpfs', `/dev/shm:${folder}`],
    ...['--memory', memory, '--memory-swap', memory, '--pids-limit', String(processes + 8)],
    ...['--user', USER, '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--hostname', 'sandbox', '--workdir', '/tmp', '--entrypoint', ''],
  ];
}

let started = 0;

/**
 * How one program is started in a container of its own: the supervisor is the first process there, and the container
 * ends with it.
 *
 * @param engine path of docker or podman
 */
export function containerLaunch(
  engine: string,
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
    command: engine,
    args: [
      ...['run', '--name', name, ...containerLimits(memoryMb, processes), ...environment, image],
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
    cleanUp: () => removeContainer(engine, name),
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
