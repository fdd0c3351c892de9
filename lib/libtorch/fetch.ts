import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { libtorchCacheFolder } from './cache-folder.js';
import { download, reasonOf } from './download.js';
import { findLibtorch } from './find.js';
import { withLock } from './lock.js';
import { pipDownload } from './pip.js';
import { startProgress } from '../terminal/progress.js';
import { cpuLibraries, inspectTorchFolder, type TorchFolder } from './torch-folder.js';
import { readWheelEntry, unpackWheel } from './unpack.js';
import { LIBTORCH_VERSION, type LibtorchVariant } from './version.js';
import { chooseWheel, parseWheelIndex } from './wheel-index.js';

const CPU_INDEX = 'https://download.pytorch.org/whl/cpu/torch/';

/** How libtorch is fetched; the defaults are what users get. */
export interface FetchOptions {
  variant?: LibtorchVariant;
  env?: NodeJS.ProcessEnv;
  /** One line of news at a time. */
  report?: (line: string) => void;
  /** Address of the wheel index page. @default PyTorch's own index of CPU wheels */
  indexUrl?: string;
  /** @default 'python3' */
  python?: string;
}

/**
 * Makes sure that libtorch is on this machine and says where: found, or fetched into the cache under a lock.
 *
 * A wheel comes from PyTorch's index of CPU wheels, or, when that cannot be had, through the user's own pip. It is unpacked
 * under a temporary name and renamed, so an interrupted call leaves nothing that looks finished.
 *
 * @throws LIBTORCH_MISSING, DOWNLOAD_FAILED
 */
export async function ensureLibtorch(options: FetchOptions = {}): Promise<TorchFolder> {
  const { variant = 'cpu', env = process.env, report = () => undefined } = options;
  const found = findLibtorch(variant, env);
  if (found) return found;
  const target = libtorchCacheFolder(variant, env);
  await mkdir(join(target, '..'), { recursive: true });
  return withLock(target, report, async () => {
    // Another setup may have finished while this one waited.
    const now = findLibtorch(variant, env);
    if (now) return now;
    const downloads = `${target}.download`;
    const unpacked = `${target}.unpacking`;
    await mkdir(downloads, { recursive: true });
    await rm(unpacked, { recursive: true, force: true });
    const wheels = await getWheels(downloads, { ...options, report });
    const bar = startProgress('unpacking libtorch', 'files');
    try {
      for (const wheel of wheels) await unpackWheel(wheel, unpacked, bar.update);
    } finally {
      bar.stop();
    }
    checkUnpacked(join(unpacked, 'torch'));
    await rm(target, { recursive: true, force: true });
    await rename(unpacked, target);
    await rm(downloads, { recursive: true, force: true });
    const torch = inspectTorchFolder(join(target, 'torch'));
    if (!torch) throw new GrpoError('INTERNAL', 'libtorch', `${target} holds no libtorch after unpacking`);
    report(`libtorch ${torch.version} is in ${torch.folder}`);
    return torch;
  });
}

async function getWheels(
  folder: string,
  options: FetchOptions & { report: (line: string) => void },
): Promise<string[]> {
  try {
    return [await fromIndex(folder, options)];
  } catch (error) {
    if (error instanceof GrpoError && error.operation === 'libtorch') throw error;
    options.report(`no wheel from PyTorch's index (${reasonOf(error)}): asking pip`);
    return fromPip(folder, options, error);
  }
}

async function fromIndex(folder: string, options: FetchOptions & { report: (line: string) => void }): Promise<string> {
  const indexUrl = options.indexUrl ?? CPU_INDEX;
  const response = await fetch(indexUrl, { signal: AbortSignal.timeout(20_000) });
  if (!response.ok) throw new Error(`${indexUrl} answered ${response.status}`);
  const version = `${LIBTORCH_VERSION}+cpu`;
  const wheel = chooseWheel(parseWheelIndex(await response.text(), response.url), version, 'x86_64');
  if (!wheel) throw new Error(`${indexUrl} lists no torch ${version} for x86_64`);
  if (!wheel.sha256) throw new Error(`${indexUrl} gives no SHA-256 for ${wheel.name}`);
  const path = join(folder, wheel.name);
  if (existsSync(path)) await rm(path);
  options.report(`fetching ${wheel.name}`);
  const bar = startProgress('fetching libtorch', 'MB');
  try {
    await download({ url: wheel.url, to: path, sha256: wheel.sha256, onProgress: bar.update });
  } finally {
    bar.stop();
  }
  return path;
}

async function fromPip(folder: string, options: FetchOptions, indexError: unknown): Promise<string[]> {
  const settings = { python: options.python, env: options.env };
  try {
    const [torch] = (await pipDownload(`torch==${LIBTORCH_VERSION}`, folder, settings)).filter((path) =>
      /\/torch-[^/]*\.whl$/.test(path),
    );
    if (!torch) throw new GrpoError('DOWNLOAD_FAILED', 'pip', `pip put no torch wheel into ${folder}`);
    // The wheel for CUDA 13 serves the CPU as well, once these two libraries lie beside it; it pins their versions.
    const metadata = await readWheelEntry(torch, /^torch-[^/]*\.dist-info\/METADATA$/);
    const toolkit = /^Requires-Dist:\s*cuda-toolkit(?:\[[^\]]*\])?\s*==\s*([\d.]+)/m.exec(metadata ?? '')?.[1];
    if (!toolkit) return [torch];
    const beside = join(folder, 'cuda');
    const requirement = `cuda-toolkit[cudart,cupti]==${toolkit}`;
    return [torch, ...(await pipDownload(requirement, beside, { ...settings, withDependencies: true }))];
  } catch (error) {
    throw new GrpoError(
      'DOWNLOAD_FAILED',
      'libtorch',
      `libtorch ${LIBTORCH_VERSION} could not be fetched.\n` +
        `  PyTorch's index: ${reasonOf(indexError)}\n  pip: ${reasonOf(error)}\n` +
        `  Unpack a torch ${LIBTORCH_VERSION} CPU wheel by hand and set GRPO_LIBTORCH to its torch folder.`,
      { cause: error },
    );
  }
}

function checkUnpacked(torch: string): void {
  const version = inspectTorchFolder(torch)?.version;
  if (version !== LIBTORCH_VERSION || !existsSync(join(torch, 'include', 'ATen'))) {
    throw new GrpoError(
      'LIBTORCH_MISSING',
      'libtorch',
      `the wheel must hold libtorch ${LIBTORCH_VERSION} with its headers, but holds ${version ?? 'none'}`,
    );
  }
  cpuLibraries(torch);
}
