import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../bin/cli.ts', import.meta.url));

/** A folder of its own for runs of the demo. */
export const folder = mkdtempSync(join(tmpdir(), 'grpo-demo-'));
export const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });

/** The command line, from the sources. */
export function run(args: string[], environment: Record<string, string>, cwd?: string) {
  const env = { ...process.env, ...environment };
  const tsx = import.meta.resolve('tsx');
  return spawnSync(process.execPath, ['--import', tsx, cli, ...args], { encoding: 'utf8', env, cwd });
}

/** `train --output NAME`, and what its logs hold. */
export function train(name: string, args: string[], environment: Record<string, string> = {}, cwd?: string) {
  const output = join(folder, name);
  const { status, stdout, stderr } = run(['train', '--output', output, ...args], environment, cwd);
  const lines = <T>(file: string) =>
    readFileSync(join(output, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as T);
  return { status, stdout, stderr, output, lines };
}
