import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { NativeCore } from './addon-types.js';
import { GrpoError, type ErrorCode, ERROR_CODES } from './errors.js';
import { addonFiles, type AddonFiles } from './libtorch/addon-files.js';
import { cpuLibraries, findLibtorch, type TorchFolder } from './libtorch/index.js';
import { packageFolder } from './package-folder.js';
import { withoutLive } from './terminal/live.js';

interface Loader {
  load(libraries: string[], core: string): NativeCore & { leave(): boolean };
}

interface Ready {
  addon: AddonFiles;
  torch: TorchFolder;
}

let core: NativeCore | undefined;

/**
 * The native core, loaded once. At first use libtorch is fetched and the core built, with messages on stderr; another
 * process that does so at that moment is waited for. With `GRPO_NO_SETUP` set nothing is fetched or built: what is there is taken as it is.
 *
 * @throws NATIVE_MISSING, LIBTORCH_MISSING, BUILD_FAILED, DOWNLOAD_FAILED
 */
export async function loadCore(): Promise<NativeCore> {
  if (core) return core;
  let ready = look();
  if (!ready) {
    const [command, args] = setupCommand();
    const run = () =>
      new Promise<number | null>((resolve, reject) => {
        // fd 2: stdout belongs to the program.
        spawn(command, args, { stdio: ['ignore', 2, 2] })
          .on('error', reject)
          .on('close', resolve);
      });
    const code = await withoutLive(run);
    ready = lookAgain(code);
  }
  return (core ??= open(ready));
}

/** As {@link loadCore}, but blocks while it is set up. */
export function loadCoreSync(): NativeCore {
  if (core) return core;
  let ready = look();
  if (!ready) {
    const [command, args] = setupCommand();
    ready = lookAgain(spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status);
  }
  return (core ??= open(ready));
}

function look(): Ready | undefined {
  const addon = addonFiles(packageFolder(), !!process.env['GRPO_NO_SETUP']);
  const torch = addon && findLibtorch();
  return addon && torch ? { addon, torch } : undefined;
}

function setupCommand(): [string, string[]] {
  if (process.env['GRPO_NO_SETUP']) {
    throw new GrpoError(
      'NATIVE_MISSING',
      'load',
      'the native core is not set up and GRPO_NO_SETUP forbids doing so now: run `npx grpo-native setup`',
    );
  }
  const fromSources = import.meta.url.endsWith('.ts');
  const script = fromSources ? ['--import', 'tsx', 'lib/setup/main.ts'] : ['dist/lib/setup/main.js'];
  const args = [...script.slice(0, -1), join(packageFolder(), script.at(-1) ?? '')];
  return [process.execPath, args];
}

function lookAgain(code: number | null): Ready {
  const ready = code === 0 ? look() : undefined;
  if (ready) return ready;
  throw new GrpoError(
    'NATIVE_MISSING',
    'load',
    'the native core could not be set up; the reason is above. `npx grpo-native doctor` says what is missing',
  );
}

/** Loads a loader and core that lie on disk; what `setup` tries in a process of its own. */
export function open({ addon, torch }: Ready): NativeCore {
  const loader = createRequire(import.meta.url)(addon.loader) as Loader;
  try {
    const exports = loader.load(cpuLibraries(torch.folder), addon.core);
    // Before anything that libtorch has made is destroyed; the core's own exit handler is the safety net.
    process.once('exit', () => exports.leave());
    return exports;
  } catch (error) {
    throw asGrpoError(error);
  }
}

function asGrpoError(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  const match = /^\[(\w+)\] (.*)$/s.exec(message ?? '');
  if (!match || !ERROR_CODES.includes(code as ErrorCode)) return error;
  return new GrpoError(code as ErrorCode, match[1] ?? 'load', match[2] ?? '', { cause: error });
}
