import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnvironment } from './environment.js';
import type { Interpreter } from './interpreter.js';
import { SUPERVISOR_SOURCE, TESTS_SOURCE } from './python/supervisor.js';
import type { Launch } from './worker.js';

/**
 * Starts a program without isolation: it has the rights of this process and sees its files and network. Time, memory,
 * output and file size are limited; the environment is clean; processes that it leaves are killed.
 */
export async function processLaunch(interpreter: Interpreter): Promise<Launch> {
  const home = await mkdtemp(join(tmpdir(), 'grpo-native-program-'));
  const config = {
    // Read by people who look at the list of processes.
    owner: process.pid,
    isolated: false,
    warm: false,
    mountProc: false,
    users: null,
    mounts: [],
    diskBytes: 0,
    sites: interpreter.folders.filter((folder) => !folder.startsWith(`${interpreter.prefix}/`)),
    packages: interpreter.folders,
    preload: [],
    tests: TESTS_SOURCE,
  };
  return {
    command: interpreter.executable,
    args: ['-s', '-c', SUPERVISOR_SOURCE, JSON.stringify(config)],
    environment: cleanEnvironment(home),
    inputs: [],
    folder: join(home, 'program'),
    stopSignal: 'SIGTERM',
    cleanUp: () => rm(home, { recursive: true, force: true }),
  };
}
