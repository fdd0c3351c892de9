import { spawn } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GrpoError } from '../errors.js';

/**
 * Lets the user's own pip, with the user's own settings, put wheels into a folder.
 *
 * @returns the paths of the wheels that lie there afterwards
 * @throws DOWNLOAD_FAILED with pip's last lines.
 */
export async function pipDownload(
  requirement: string,
  folder: string,
  options: { withDependencies?: boolean; python?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string[]> {
  const python = options.python ?? 'python3';
  await mkdir(folder, { recursive: true });
  const dependencies = options.withDependencies ? [] : ['--no-deps'];
  const args = ['-m', 'pip', 'download', requirement, ...dependencies, '--only-binary', ':all:', '--dest', folder];
  const { code, output } = await runPip(python, args, options.env);
  if (code !== 0) {
    const missing = /No module named pip|ENOENT/.test(output);
    const advice = missing ? 'install it: apt-get install python3-pip' : `${python} ${args.join(' ')} failed`;
    throw new GrpoError('DOWNLOAD_FAILED', 'pip', `${advice}\n${lastLines(output, 6)}`);
  }
  return (await readdir(folder)).filter((name) => name.endsWith('.whl')).map((name) => join(folder, name));
}

function runPip(
  python: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(python, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
