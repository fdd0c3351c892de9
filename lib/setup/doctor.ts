import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { addonFiles } from '../libtorch/addon-files.js';
import { findLibtorch } from '../libtorch/index.js';
import { tryToLoad } from './setup.js';
import { checkBuildTool, checkCmake, checkCompiler, firstLine, type ToolCheck } from './tools.js';

/** One line of `doctor`. */
export interface Check {
  name: string;
  /** 'missing': needed, and not there. 'note': works without, but worse or with a flag. */
  state: 'ok' | 'note' | 'missing';
  /** What was found, or what is wrong. */
  detail: string;
  /** What to run to mend it; undefined when there is nothing to mend. */
  mend?: string;
}

/** Looks at everything that training on this machine needs. Changes nothing. */
export function runChecks(env: NodeJS.ProcessEnv = process.env): Check[] {
  const built = addonFiles() !== undefined;
  const checks = [checkNode(), checkPython(env)];
  // A prebuilt core needs no compiler.
  for (const tool of [checkCompiler(env), checkCmake(env), checkBuildTool(env)]) checks.push(fromTool(tool, !built));
  checks.push(checkBubblewrap(env));
  const libtorch = checkLibtorch(env);
  checks.push(libtorch, checkCore(built, libtorch.state === 'ok'), ...checkProcessor());
  return checks;
}

/** The checks as text, one line each, with the line that mends below. */
export function formatChecks(checks: Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ name, state, detail, mend }) => {
    const line = `${state.padEnd(7)}  ${name.padEnd(width)}  ${detail}`;
    return mend ? `${line}\n${' '.repeat(9 + width + 2)}-> ${mend}` : line;
  });
  const missing = checks.filter(({ state }) => state === 'missing').length;
  const verdict = missing === 0 ? 'this machine is ready' : `${missing} of ${checks.length} checks failed`;
  return `${[...lines, verdict].join('\n')}\n`;
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  const mend = 'install Node.js 20.19 or newer: https://nodejs.org/en/download';
  return { name: 'Node.js', state: ok ? 'ok' : 'missing', detail: process.versions.node, ...(ok ? {} : { mend }) };
}

function checkPython(env: NodeJS.ProcessEnv): Check {
  const line = firstLine('python3', ['--version'], env);
  if (line) return { name: 'python3', state: 'ok', detail: line };
  return { name: 'python3', state: 'missing', detail: 'not installed', mend: 'apt-get install python3' };
}

function fromTool(tool: ToolCheck, needed: boolean): Check {
  if (tool.ok) return { name: tool.name, state: 'ok', detail: tool.detail };
  return { name: tool.name, state: needed ? 'missing' : 'note', detail: tool.detail, mend: tool.install };
}

function checkBubblewrap(env: NodeJS.ProcessEnv): Check {
  const name = 'bubblewrap';
  const line = firstLine('bwrap', ['--version'], env);
  if (!line) return { name, state: 'missing', detail: 'not installed', mend: 'apt-get install bubblewrap' };
  const probe = ['--unshare-all', '--ro-bind', '/', '/', '--', 'true'];
  const run = spawnSync('bwrap', probe, { env, encoding: 'utf8', timeout: 20_000 });
  if (run.status === 0) return { name, state: 'ok', detail: line };
  const reason = run.stderr.trim().split('\n')[0] ?? '';
  const mend = 'sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0';
  return { name, state: 'missing', detail: `${line} is installed, but makes no sandbox: ${reason}`, mend };
}

function checkLibtorch(env: NodeJS.ProcessEnv): Check {
  const name = 'libtorch';
  const mend = 'npx grpo-native setup';
  try {
    const found = findLibtorch('cpu', env);
    if (!found) return { name, state: 'missing', detail: 'not on this machine', mend };
    return { name, state: 'ok', detail: `${found.version} ${found.variant} (${found.source}: ${found.folder})` };
  } catch (error) {
    return { name, state: 'missing', detail: messageOf(error), mend };
  }
}

function checkCore(built: boolean, libtorch: boolean): Check {
  const name = 'native core';
  const mend = 'npx grpo-native setup';
  if (!built) return { name, state: 'missing', detail: 'not built, or from other sources', mend };
  if (!libtorch) return { name, state: 'missing', detail: 'is there, but wants libtorch', mend };
  const problem = tryToLoad();
  if (problem === undefined) return { name, state: 'ok', detail: 'loads' };
  return { name, state: 'missing', detail: problem, mend: 'npx grpo-native setup --rebuild' };
}

function checkProcessor(): Check[] {
  const flags = new Set(/^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.trim().split(/\s+/) ?? []);
  const bfloat16 = ['amx_bf16', 'avx512_bf16'].filter((flag) => flags.has(flag));
  const processors = availableParallelism();
  return [
    { name: 'processors', state: 'ok', detail: String(processors) },
    bfloat16.length > 0
      ? { name: 'bfloat16', state: 'ok', detail: bfloat16.join(', ') }
      : { name: 'bfloat16', state: 'note', detail: 'no AMX and no AVX512-BF16: models run in float32' },
  ];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
