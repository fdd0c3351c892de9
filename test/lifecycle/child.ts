import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** How a program ended. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** From the line 'ready' (or the start, when it never came) to the end. */
  ms: number;
}

/**
 * Runs a TypeScript program of this folder, or a text of JavaScript, in a process of its own. Once it prints a line 'ready',
 * `onReady` may send it a signal.
 */
export async function runChild(
  program: { file: string; args?: string[] } | { code: string },
  options: { env?: NodeJS.ProcessEnv; onReady?: (kill: (signal: NodeJS.Signals) => void) => void } = {},
): Promise<Ending> {
  const what =
    'file' in program ? [join(import.meta.dirname, program.file), ...(program.args ?? [])] : ['-e', program.code];
  const child = spawn(process.execPath, ['--import', 'tsx', ...what], {
    cwd: join(import.meta.dirname, '..', '..'),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  let since = performance.now();
  child.stdout.on('data', (chunk: Buffer) => {
    const before = stdout;
    stdout += chunk.toString('utf8');
    if (!/^ready$/m.test(before) && /^ready$/m.test(stdout)) {
      since = performance.now();
      options.onReady?.((signal) => child.kill(signal));
    }
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout, stderr, ms: performance.now() - since };
}
