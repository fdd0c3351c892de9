import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('training-program.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface EndedRun {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

/** Runs the program; `onLine` sees every line and may send a signal. */
export async function runTraining(
  args: string[],
  onLine: (line: string, kill: (signal: NodeJS.Signals) => void) => void = () => undefined,
): Promise<EndedRun> {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, ...args], { cwd: ROOT });
  let output = '';
  let rest = '';
  const read = (data: Buffer) => {
    output += data.toString();
    const lines = (rest + data.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line, (signal) => child.kill(signal));
  };
  child.stdout.on('data', read);
  child.stderr.on('data', (data: Buffer) => (output += data.toString()));
  return new Promise((resolve) =>
    child.on('close', (code, signal) => {
      resolve({ code, signal, output });
    }),
  );
}

/** Lines of a log without what a clock says. */
export function timelessLines(folder: string, name: string): string[] {
  return readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) =>
      JSON.stringify(JSON.parse(line), (key, value: unknown) => (/seconds|_ms$/.test(key) ? undefined : value)),
    );
}

/** Steps of a log in its order. */
export const stepsIn = (folder: string, name: string): number[] =>
  timelessLines(folder, name).map((line) => (JSON.parse(line) as { step: number }).step);
