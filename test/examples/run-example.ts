import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';

export const ROOT = join(import.meta.dirname, '../..');

export const emptyFolder = (): string => mkdtempSync(join(tmpdir(), 'grpo-example-'));

export const source = (name: string): string => readFileSync(join(ROOT, 'examples', name), 'utf8');

/** Runs a program of examples/ as its reader does, against the sources. Gives what it printed. */
export function runExample(folder: string, name: string, ...args: string[]): string {
  const command = ['--import', import.meta.resolve('tsx'), join(ROOT, 'examples', name), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 240_000,
    // Its paths lead `grpo-native` to lib/.
    env: { ...process.env, TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json') },
  });
  assert.is(status, 0, stderr);
  return stdout;
}
