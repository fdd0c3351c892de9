import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEnvironment } from '../../lib/environments/index.js';
import { train } from '../../lib/trainer/index.js';
import { ROOT } from './pages.js';
import type { ShellCommand } from './shell.js';

/** A folder where the words of the pages are real: MODEL and my-adapter of the demo, examples/, runs. */
export async function commandFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-commands-'));
  symlinkSync(join(ROOT, 'models/demo'), join(folder, 'MODEL'));
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
  const first = join(folder, 'runs', 'mine');
  await train({
    model: 'embedded:demo',
    environment: defineEnvironment({
      name: 'letters',
      tasks: Array.from({ length: 10 }, (_, n) => ({ id: `task-${n}`, prompt: `solve(x) returns x plus ${n}.` })),
      prompt: ({ prompt }) => [{ role: 'user', content: prompt }],
      rewards: [{ name: 'long', score: ({ turns }) => turns[0]!.text.length }],
    }),
    steps: 2,
    promptsPerStep: 2,
    groupSize: 4,
    maxNewTokens: 16,
    output: first,
    quiet: true,
  });
  for (const name of ['NAME', 'a', 'b']) cpSync(first, join(folder, 'runs', name), { recursive: true });
  return folder;
}

/** Runs a command of a page against the sources. */
export function runCommand(folder: string, { words }: ShellCommand) {
  const cli = ['--import', import.meta.resolve('tsx'), join(ROOT, 'bin/cli.ts'), ...words];
  return spawnSync(process.execPath, cli, { cwd: folder, encoding: 'utf8', timeout: 240_000 });
}
