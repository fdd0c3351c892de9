import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { GrpoError } from '../errors.js';
import { cleanEnvironment } from './environment.js';
import { type Interpreter, layOut } from './interpreter.js';
import type { Preload } from './pool.js';
import { SUPERVISOR_SOURCE, TESTS_SOURCE } from './python/supervisor.js';
import type { Launch } from './worker.js';

const execFileAsync = promisify(execFile);
const DISK_BYTES = 128 * 2 ** 20;
const INSTALL = 'install it: apt-get install bubblewrap';

/** Files that Python and its packages read; the rest of /etc stays outside. */
const ETC = [
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'timezone',
  'mime.types',
  'fonts',
  'alternatives',
  'os-release',
];

const IDENTITY: Record<string, string> = {
  passwd: 'root:x:0:0:root:/:/bin/false\nsandbox:x:1000:1000:sandbox:/tmp:/bin/sh\n',
  group: 'root:x:0:\nsandbox:x:1000:\n',
  hosts: '127.0.0.1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

export interface BubblewrapProgram {
  path: string;
  /** Major, minor, patch. */
  version: [number, number, number];
}

/**
 * Finds bubblewrap on the PATH.
 *
 * @throws SANDBOX_UNAVAILABLE when it is missing or too old
 */
export async function findBubblewrap(): Promise<BubblewrapProgram> {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((candidate) => existsSync(candidate));
  if (path === undefined)
    throw new GrpoError('SANDBOX_UNAVAILABLE', 'Sandbox.open', `bubblewrap was not found; ${INSTALL}`);
  let text: string;
  try {
    text = (await execFileAsync(path, ['--version'], { timeout: 10_000 })).stdout;
  } catch (cause) {
    throw new GrpoError('SANDBOX_UNAVAILABLE', 'Sandbox.open', `${path} does not start; ${INSTALL}`, { cause });
  }
  const numbers = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  const version: [number, number, number] = [
    Number(numbers?.[1] ?? 0),
    Number(numbers?.[2] ?? 0),
    Number(numbers?.[3] ?? 0),
  ];
  if (version[0] === 0 && version[1] < 5) {
    throw new GrpoError(
      'SANDBOX_UNAVAILABLE',
      'Sandbox.open',
      `bubblewrap 0.5 or later is needed, found ${text.trim()}; ${INSTALL}`,
    );
  }
  return { path, version };
}

/** The user ids, [from, to), from which a program started by root gets one: high, and mapped here. */
export function unusedUserIds(map = readFileSync('/proc/self/uid_map', 'utf8')): [number, number] | undefined {
  let best: [number, number] | undefined;
  for (const line of map.trim().split('\n')) {
    const [inside = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    const end = Math.min(inside + count, 2 ** 31);
    // The upper half: ids of people and services, and those given to containers, lie low.
    const start = Math.max(inside + Math.floor((end - inside) / 2), 1000);
    if (end - start >= 1000 && (best === undefined || end - start > best[1] - best[0])) best = [start, end];
  }
  return best;
}

function systemFolders(): string[] {
  const args = ['--ro-bind', '/usr', '/usr'];
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    if (!existsSync(folder)) continue;
    if (lstatSync(folder).isSymbolicLink()) args.push('--symlink', readlinkSync(folder), folder);
    else args.push('--ro-bind', folder, folder);
  }
  // Folders that bubblewrap makes on the way to a mount are for their owner alone.
  for (const folder of ['/etc', '/packages']) args.push('--perms', '0755', '--dir', folder);
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  return args;
}

function temporaryFolder(path: string, bytes: number, program: BubblewrapProgram): string[] {
  const sized = program.version[0] > 0 || program.version[1] >= 7;
  // An older one has no --size: there only the watching process counts what lies in the folder.
  return ['--perms', '1777', ...(sized ? ['--size', String(bytes)] : []), '--tmpfs', path];
}

/**
 * How the supervisor is started inside its own namespaces.
 *
 * @param preload what a warm supervisor imports once; undefined = one program, then the end
 */
export function bubblewrapLaunch(program: BubblewrapProgram, interpreter: Interpreter, preload?: Preload): Launch {
  const layout = layOut(interpreter);
  const isWarm = preload !== undefined;
  const isRoot = process.getuid?.() === 0;
  const users = isRoot ? unusedUserIds() : undefined;
  if (isRoot && users === undefined) {
    throw new GrpoError(
      'SANDBOX_UNAVAILABLE',
      'Sandbox.open',
      'running as root in a container that maps no other user ids, so that programs would run as root; start as a normal user',
    );
  }
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'];
  args.push('--hostname', 'sandbox', '--die-with-parent', '--new-session', '--as-pid-1');
  if (isRoot) {
    // Root's own files must be bound by root; the supervisor keeps what it needs to become somebody else.
    args.push('--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID', '--cap-add', 'CAP_KILL');
    if (isWarm) args.push('--cap-add', 'CAP_SYS_ADMIN');
  } else {
    args.push('--unshare-user', '--uid', '1000', '--gid', '1000');
  }
  args.push(...systemFolders());
  Object.keys(IDENTITY).forEach((name, index) =>
    args.push('--perms', '0644', '--ro-bind-data', String(3 + index), `/etc/${name}`),
  );
  for (const [host, inside] of layout.binds) args.push('--ro-bind', host, inside);
  if (isRoot && isWarm) args.push('--dir', '/proc');
  else args.push('--proc', '/proc');
  args.push('--dev', '/dev', ...temporaryFolder('/dev/shm', DISK_BYTES, program));
  args.push(
    ...temporaryFolder('/tmp', DISK_BYTES, program),
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    '--chdir',
    '/',
  );
  const config = {
    // Read by people who look at the list of processes.
    owner: process.pid,
    isolated: true,
    warm: isWarm,
    mountProc: isRoot && isWarm,
    users: users ?? null,
    mounts: ['/tmp', '/dev/shm'],
    diskBytes: DISK_BYTES,
    sites: layout.sites,
    packages: layout.packages,
    preload: preload?.modules ?? [],
    preloadTests: preload?.tests ?? false,
    tests: TESTS_SOURCE,
  };
  return {
    command: program.path,
    args: [...args, layout.executable, '-s', '-c', SUPERVISOR_SOURCE, JSON.stringify(config)],
    environment: cleanEnvironment('/tmp', layout.libraryFolder),
    inputs: Object.values(IDENTITY),
    folder: '/tmp/program',
  };
}
