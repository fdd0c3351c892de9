import { spawnSync } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GrpoError } from '../errors.js';
import { addonFiles } from '../libtorch/addon-files.js';
import { ensureLibtorch, withLock } from '../libtorch/index.js';
import { packageFolder } from '../package-folder.js';
import { build, requireBuildTools } from './build.js';

/** How to set up. */
export interface SetupOptions {
  /** Build even when a core that fits is there. @default false */
  rebuild?: boolean;
  /** One line of news at a time. */
  report?: (line: string) => void;
}

/**
 * Fetches libtorch and takes a prebuilt core when it fits and loads, else builds one. Does nothing when all is there.
 *
 * @throws BUILD_FAILED, DOWNLOAD_FAILED, LIBTORCH_MISSING, NATIVE_MISSING
 */
export async function setup(options: SetupOptions = {}): Promise<void> {
  const report = options.report ?? (() => undefined);
  checkPlatform();
  const folder = packageFolder();
  // Before 200 MB are fetched for nothing.
  if (options.rebuild || !addonFiles(folder)) requireBuildTools();
  const torch = await ensureLibtorch({ report });
  if (!options.rebuild && addonFiles(folder) && tryToLoad() === undefined) return;
  requireBuildTools();
  await checkWritable(folder);
  await mkdir(join(folder, 'build'), { recursive: true });
  await withLock(join(folder, 'build', 'setup'), report, async () => {
    if (!options.rebuild && addonFiles(folder) && tryToLoad() === undefined) return;
    await build(folder, torch, report);
    const problem = tryToLoad();
    if (problem !== undefined)
      throw new GrpoError('NATIVE_MISSING', 'setup', `the core that was built does not load: ${problem}`);
  });
}

/** Loads the core in a process of its own, where a crash hurts nobody. undefined: it loads; else the reason. */
export function tryToLoad(): string | undefined {
  const self = fileURLToPath(import.meta.url);
  const extension = self.endsWith('.ts') ? 'ts' : 'js';
  const script = join(self, '..', `try-load.${extension}`);
  const args = extension === 'ts' ? ['--import', 'tsx', script] : [script];
  const run = spawnSync(process.execPath, args, {
    cwd: packageFolder(),
    encoding: 'utf8',
    env: { ...process.env, GRPO_NO_SETUP: '1' },
  });
  if (run.status === 0) return undefined;
  return run.stderr.trim().split('\n')[0] || `node ended with ${run.signal ?? run.status}`;
}

function checkPlatform(): void {
  const header = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;
  const glibc = header.glibcVersionRuntime;
  const minor = Number(/^2\.(\d+)/.exec(glibc ?? '')?.[1] ?? 0);
  const fits = process.platform === 'linux' && process.arch === 'x64' && minor >= 34;
  if (fits) return;
  throw new GrpoError(
    'NATIVE_MISSING',
    'setup',
    `needs Linux on x86-64 with glibc 2.34 or newer, but this is ${process.platform} on ${process.arch} with ${glibc ? `glibc ${glibc}` : 'no glibc'}`,
  );
}

async function checkWritable(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new GrpoError('BUILD_FAILED', 'setup', `the core is built in ${folder}, which this user may not write to`, {
      cause: error,
    });
  }
}
