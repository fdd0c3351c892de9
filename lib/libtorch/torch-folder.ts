import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GrpoError } from '../errors.js';

/** A wheel's torch folder, looked at but not loaded. */
export interface TorchFolder {
  /** Absolute path; holds lib/ and include/. */
  folder: string;
  /** Without the local part, e.g. '2.13.0'. */
  version: string;
  /** 'cpu', 'cu126', 'cu130', ... */
  variant: string;
}

/**
 * Reads version and variant of a torch folder; undefined when the folder holds no libtorch.
 *
 * The wheel from the Python index for CUDA 13 has no local part in its version, so the libraries decide there.
 */
export function inspectTorchFolder(folder: string): TorchFolder | undefined {
  const versionFile = join(folder, 'version.py');
  if (!existsSync(join(folder, 'lib', 'libtorch_cpu.so')) || !existsSync(versionFile)) return undefined;
  const text = readFileSync(versionFile, 'utf8');
  const full = /^__version__\s*=\s*'([^']+)'/m.exec(text)?.[1];
  if (!full) return undefined;
  const [version = '', local] = full.split('+');
  const cuda = /^cuda\b[^=]*=\s*'([\d.]+)'/m.exec(text)?.[1];
  const hasCuda = cuda !== undefined && existsSync(join(folder, 'lib', 'libtorch_cuda.so'));
  return { folder, version, variant: local ?? (hasCuda ? `cu${cuda.replace('.', '')}` : 'cpu') };
}

/**
 * The libraries to open for work on the CPU, full paths, dependencies first.
 *
 * A CUDA wheel's libtorch_cpu also wants libcudart and libcupti, which lie in `nvidia/` beside `torch/`.
 *
 * @throws LIBTORCH_MISSING when a library is not there.
 */
export function cpuLibraries(folder: string): string[] {
  const lib = join(folder, 'lib');
  const openMp = filesIn(lib, /^libgomp.*\.so/);
  const nvidia = join(dirname(folder), 'nvidia');
  const cuda = filesIn(nvidia, /^cu/).flatMap((major) => filesIn(join(major, 'lib'), /^lib(cudart|cupti)\.so\.\d+$/));
  const own = ['libc10.so', 'libtorch_cpu.so'].map((name) => join(lib, name));
  for (const path of own) {
    if (!existsSync(path)) {
      throw new GrpoError('LIBTORCH_MISSING', 'libtorch', `${path} is missing: run \`npx grpo-native setup\``);
    }
  }
  return [...openMp, ...cuda, ...own];
}

function filesIn(folder: string, pattern: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(folder, name));
}
