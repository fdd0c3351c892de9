import { spawnSync } from 'node:child_process';

/** A program that building or running needs. */
export interface ToolCheck {
  name: string;
  ok: boolean;
  /** What was found, or what is wrong. */
  detail: string;
  /** The line that installs it on Debian and Ubuntu. */
  install: string;
}

const PROBE = '#include <concepts>\n#include <omp.h>\nstatic_assert(std::same_as<int, int>);\n';

/** A C++20 compiler with OpenMP: `$CXX`, else c++, as CMake chooses it. */
export function checkCompiler(env: NodeJS.ProcessEnv = process.env): ToolCheck {
  const compiler = env['CXX'] || 'c++';
  const install = 'apt-get install g++';
  const run = spawnSync(compiler, ['-std=c++20', '-fopenmp', '-x', 'c++', '-fsyntax-only', '-'], {
    env,
    input: PROBE,
    encoding: 'utf8',
  });
  const name = 'C++20 compiler';
  if (run.error) return { name, ok: false, detail: `${compiler} is not installed`, install };
  if (run.status !== 0) {
    const reason = run.stderr.trim().split('\n')[0] ?? '';
    return { name, ok: false, detail: `${compiler} compiles no C++20 with OpenMP: ${reason}`, install };
  }
  return { name, ok: true, detail: firstLine(compiler, ['--version'], env) ?? compiler, install };
}

/** CMake 3.22 or newer. */
export function checkCmake(env: NodeJS.ProcessEnv = process.env): ToolCheck {
  const install = 'apt-get install cmake';
  const name = 'CMake';
  const line = firstLine('cmake', ['--version'], env);
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(line ?? '') ?? []).slice(1).map(Number);
  if (!line) return { name, ok: false, detail: 'cmake is not installed', install };
  const ok = major > 3 || (major === 3 && minor >= 22);
  return { name, ok, detail: ok ? line : `${line} is older than 3.22`, install };
}

/** What CMake drives: ninja or make. */
export function checkBuildTool(env: NodeJS.ProcessEnv = process.env): ToolCheck {
  const name = 'build tool';
  const line = firstLine('ninja', ['--version'], env);
  const found = line ? `ninja ${line}` : firstLine('make', ['--version'], env);
  return { name, ok: !!found, detail: found ?? 'neither ninja nor make is installed', install: 'apt-get install make' };
}

/** The first line a program prints; undefined when it does not run. */
export function firstLine(program: string, args: string[], env: NodeJS.ProcessEnv = process.env): string | undefined {
  const run = spawnSync(program, args, { env, encoding: 'utf8', timeout: 20_000 });
  return run.status === 0 ? (run.stdout.trim().split('\n')[0] ?? '') : undefined;
}
