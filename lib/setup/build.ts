import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, freemem } from 'node:os';
import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { RECORD_NAME, wantedRecord } from '../libtorch/addon-files.js';
import type { TorchFolder } from '../libtorch/index.js';
import { startProgress } from '../terminal/progress.js';
import { buildSteps } from './build-steps.js';
import { checkBuildTool, checkCmake, checkCompiler } from './tools.js';

// One compiler needs up to this much for a file with tensor code.
const BYTES_A_JOB = 1.5e9;

/**
 * @throws BUILD_FAILED naming every tool that is missing and the line that installs it.
 */
export function requireBuildTools(env: NodeJS.ProcessEnv = process.env): void {
  const missing = [checkCompiler(env), checkCmake(env), checkBuildTool(env)].filter(({ ok }) => !ok);
  if (missing.length === 0) return;
  const packages = missing.map(({ install }) => install.replace('apt-get install ', ''));
  throw new GrpoError(
    'BUILD_FAILED',
    'setup',
    `no prebuilt core fits this machine, and building one is not possible: ${missing.map(({ detail }) => detail).join('; ')}. ` +
      `Install what is missing: apt-get install ${packages.join(' ')}`,
  );
}

/**
 * Compiles loader and core into build/Release and records what they were made from.
 *
 * @throws BUILD_FAILED with the compiler's last lines.
 */
export async function build(folder: string, torch: TorchFolder, report: (line: string) => void): Promise<void> {
  requireBuildTools();
  const release = join(folder, 'build', 'Release');
  const recordFile = join(release, RECORD_NAME);
  await mkdir(release, { recursive: true });
  await rm(recordFile, { force: true });
  // Taken before compiling: a source that changes meanwhile makes the build stale, not wrong.
  const record = wantedRecord(folder);
  const log = join(folder, 'build', 'build.log');
  const started = Date.now();
  report('building the native core (two to five minutes on two processors)');
  const jobs = Math.max(1, Math.min(availableParallelism(), Math.floor(freemem() / BYTES_A_JOB)));
  await cmakeJs(folder, ['configure', `--CDGRPO_LIBTORCH=${torch.folder}`], { path: log, flags: 'w' });
  const bar = startProgress('building the native core', '');
  const onOutput = (text: string) => {
    const steps = buildSteps(text);
    if (steps) bar.update(steps.done, steps.total);
  };
  try {
    await cmakeJs(folder, ['build', '--parallel', String(jobs)], { path: log, flags: 'a' }, onOutput);
  } finally {
    bar.stop();
  }
  const temporary = `${recordFile}.new`;
  await writeFile(temporary, `${JSON.stringify(record, null, 2)}\n`);
  await rename(temporary, recordFile);
  // prebuildify copies the libraries by itself, and what lies here beside them.
  const artifacts = join(folder, 'build', 'artifacts');
  await mkdir(artifacts, { recursive: true });
  await copyFile(recordFile, join(artifacts, RECORD_NAME));
  report(`the native core is built (${Math.round((Date.now() - started) / 1000)} s)`);
}

/** @param onOutput pieces of what it prints, in order */
async function cmakeJs(
  folder: string,
  args: string[],
  log: { path: string; flags: 'w' | 'a' },
  onOutput?: (text: string) => void,
): Promise<void> {
  const script = createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js');
  const all = [script, ...args, '--directory', folder, '--out', join(folder, 'build', 'cmake')];
  const code = await new Promise<number | null>((resolve, reject) => {
    const out = createWriteStream(log.path, { flags: log.flags });
    const child = spawn(process.execPath, all, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.pipe(out, { end: false });
    child.stderr.pipe(out, { end: false });
    child.stdout.setEncoding('utf8').on('data', (text: string) => onOutput?.(text));
    child.on('error', reject);
    child.on('close', (status) => out.end(() => resolve(status)));
  });
  if (code === 0) return;
  const lines = (await readFile(log.path, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  const first = lines.findIndex((line) => /error[: ]|fatal/i.test(line));
  const shown = (first >= 0 ? lines.slice(first, first + 8) : lines.slice(-8)).join('\n  ');
  throw new GrpoError('BUILD_FAILED', 'setup', `cmake-js ${args[0]} failed; all of it is in ${log.path}:\n  ${shown}`);
}
