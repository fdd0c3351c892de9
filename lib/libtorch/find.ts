import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GrpoError } from '../errors.js';
import { libtorchCacheFolder } from './cache-folder.js';
import { inspectTorchFolder, type TorchFolder } from './torch-folder.js';
import { LIBTORCH_VERSION, type LibtorchVariant } from './version.js';

// find_spec of a top-level name reads no torch code, so this takes milliseconds.
const WHERE_IS_TORCH =
  "import importlib.util as u; s = u.find_spec('torch'); print((list(s.submodule_search_locations or []) or [''])[0] if s else '')";

/** A libtorch that is on this machine already. */
export interface FoundLibtorch extends TorchFolder {
  /** Where it was found, in words. */
  source: 'GRPO_LIBTORCH' | 'cache' | 'VIRTUAL_ENV' | 'python3';
}

/**
 * Looks for libtorch on this machine: `GRPO_LIBTORCH`, the cache, a Python environment's torch of the same version and
 * variant. undefined when there is none.
 *
 * @throws LIBTORCH_MISSING when `GRPO_LIBTORCH` is set to a folder that does not do.
 */
export function findLibtorch(
  variant: LibtorchVariant = 'cpu',
  env: NodeJS.ProcessEnv = process.env,
): FoundLibtorch | undefined {
  const named = env['GRPO_LIBTORCH'];
  if (named) return { ...checkNamed(resolve(named)), source: 'GRPO_LIBTORCH' };

  const cached = inspectTorchFolder(join(libtorchCacheFolder(variant, env), 'torch'));
  if (cached?.version === LIBTORCH_VERSION) return { ...cached, source: 'cache' };

  const pythons: [FoundLibtorch['source'], string][] = [];
  if (env['VIRTUAL_ENV']) pythons.push(['VIRTUAL_ENV', join(env['VIRTUAL_ENV'], 'bin', 'python')]);
  pythons.push(['python3', 'python3']);
  for (const [source, python] of pythons) {
    const torch = torchOfPython(python, env);
    if (torch?.version === LIBTORCH_VERSION && torch.variant === variant) return { ...torch, source };
  }
  return undefined;
}

function checkNamed(folder: string): TorchFolder {
  const torch = inspectTorchFolder(folder);
  if (!torch) {
    throw new GrpoError(
      'LIBTORCH_MISSING',
      'libtorch',
      `GRPO_LIBTORCH must name a wheel's torch folder with lib/libtorch_cpu.so and version.py, but ${folder} is none`,
    );
  }
  if (torch.version !== LIBTORCH_VERSION) {
    throw new GrpoError(
      'LIBTORCH_MISSING',
      'libtorch',
      `GRPO_LIBTORCH must name torch ${LIBTORCH_VERSION}, but ${folder} is ${torch.version}: unset it to fetch the right one`,
    );
  }
  return torch;
}

function torchOfPython(python: string, env: NodeJS.ProcessEnv): TorchFolder | undefined {
  // -P would be safer against a torch.py in the working folder, but needs Python 3.11; the folder check below is enough.
  const result = spawnSync(python, ['-c', WHERE_IS_TORCH], { env, encoding: 'utf8', timeout: 20_000 });
  const folder = result.status === 0 ? result.stdout.trim() : '';
  return folder && existsSync(folder) ? inspectTorchFolder(folder) : undefined;
}
