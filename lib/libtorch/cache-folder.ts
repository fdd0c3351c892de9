import { homedir } from 'node:os';
import { join } from 'node:path';
import { LIBTORCH_VERSION, type LibtorchVariant } from './version.js';

/**
 * The folder for everything that is fetched or built once: `GRPO_CACHE`, else `$XDG_CACHE_HOME/grpo-native`, else
 * `~/.cache/grpo-native`.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env['GRPO_CACHE']) return env['GRPO_CACHE'];
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'grpo-native');
}

/** The cache's folder of one libtorch; `torch/` lies in it as in site-packages. */
export function libtorchCacheFolder(variant: LibtorchVariant, env: NodeJS.ProcessEnv = process.env): string {
  return join(cacheFolder(env), 'libtorch', `${LIBTORCH_VERSION}-${variant}`);
}
