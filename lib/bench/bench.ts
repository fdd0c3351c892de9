import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { resolveBenchConfig } from '../config/index.js';
import type { BenchConfig, BenchInput } from '../config/index.js';
import { GrpoError } from '../errors.js';
import { loadPolicy } from '../launch/index.js';
import { packageFolder } from '../package-folder.js';
import { packageVersion } from '../run/index.js';
import { Sandbox } from '../sandbox/index.js';
import { openDocumentation } from '../tools/documentation/open.js';
import { measureSearch } from './documentation-speed.js';
import { measurePolicy } from './policy-speed.js';
import type { PolicySpeed } from './policy-speed.js';
import { measureSandbox } from './sandbox-speed.js';
import type { SandboxSpeed } from './sandbox-speed.js';

const EMBEDDED = 'embedded:demo';

/** What `bench` found; parts that were not asked for are left out. */
export interface BenchResult {
  version: string;
  /** Of the clone that the package lies in; null where it is none. `+` marks changed files. */
  commit: string | null;
  node: string;
  processor: string;
  /** Processors that this process may use. */
  processors: number;
  policy?: {
    model: string;
    device: string;
    dtype: string;
    parameters: number;
    weightBytes: number;
    loadSeconds: number;
    speeds: PolicySpeed[];
  };
  /** `unavailable` says why there is no sandbox here. */
  sandbox?: SandboxSpeed | { unavailable: string };
  docs?: { symbols: number; searchMs: number };
}

/** Beside the configuration: what a caller may bring. */
export interface BenchOptions {
  /** What is measured next. */
  onPart?: (text: string) => void;
}

/** The commit of the package's own clone. */
function commitOf(folder: string): string | null {
  // An installed package may lie inside somebody else's clone.
  if (!existsSync(join(folder, '.git'))) return null;
  const git = (...args: string[]) => spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  const head = git('rev-parse', '--short=12', 'HEAD');
  if (head.status !== 0) return null;
  return head.stdout.trim() + (git('status', '--porcelain').stdout.trim() === '' ? '' : '+');
}

async function benchPolicy(config: BenchConfig, say: (text: string) => void): Promise<BenchResult['policy']> {
  const { adapter, device, dtype, strict, newTokens, rounds } = config;
  const model = config.model ?? EMBEDDED;
  say(`loading ${model}`);
  const started = performance.now();
  const policy = await loadPolicy(model, { device, dtype, strict, ...(adapter === undefined ? {} : { adapter }) });
  const loadSeconds = (performance.now() - started) / 1000;
  try {
    const speeds = await measurePolicy(policy, { newTokens, rounds, onStart: say });
    const { parameters, weightBytes, ...rest } = policy.description;
    return { model, device: rest.device, dtype: rest.dtype, parameters, weightBytes, loadSeconds, speeds };
  } finally {
    await policy.close();
  }
}

async function benchSandbox(config: BenchConfig): Promise<BenchResult['sandbox']> {
  const { sandbox: backend, python, allowUnsandboxed, programs } = config;
  let sandbox: Sandbox;
  try {
    sandbox = await Sandbox.open({ backend, python, allowUnsandboxed });
  } catch (error) {
    // A machine without a sandbox can still train what needs none; one that was asked for by name must be there.
    const isMissing = error instanceof GrpoError && error.code === 'SANDBOX_UNAVAILABLE';
    if (!isMissing || backend !== 'auto') throw error;
    return { unavailable: error.message };
  }
  try {
    return await measureSandbox(sandbox, programs);
  } finally {
    await sandbox.close();
  }
}

/**
 * Microbenchmarks: tokens a second of decoding, scoring and updating, programs a second of the sandbox, milliseconds of a
 * documentation search, with what they depend on.
 *
 * @throws {GrpoError} INVALID_CONFIG, and what policy and sandbox throw
 * @example
 * const { policy } = await bench({ model: 'models/SmolLM2-135M-Instruct', parts: ['policy'] });
 */
export async function bench(input: BenchInput = {}, options: BenchOptions = {}): Promise<BenchResult> {
  const config = resolveBenchConfig(input);
  const say = options.onPart ?? (() => undefined);
  const result: BenchResult = {
    version: packageVersion(),
    commit: commitOf(packageFolder()),
    node: process.versions.node,
    processor: cpus()[0]?.model ?? 'unknown',
    processors: availableParallelism(),
  };
  if (config.parts.includes('policy')) result.policy = await benchPolicy(config, say);
  if (config.parts.includes('sandbox')) {
    say('sandbox');
    result.sandbox = await benchSandbox(config);
  }
  if (config.parts.includes('docs')) {
    say('documentation search');
    const documentation = await openDocumentation(config.python);
    result.docs = { symbols: documentation.size, searchMs: measureSearch(documentation) };
  }
  return result;
}
