import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeTinyModel } from '../e2e/tiny-model.js';
import type { CodeBlock } from './pages.js';
import { ROOT } from './pages.js';

/** A folder to run programs in: the examples, and a tiny model under the name that pages use. */
export async function programFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-docs-'));
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
  const model = await writeTinyModel(join(folder, 'models', 'SmolLM2-135M-Instruct'));
  // A prompt with tool schemas is longer in bytes than in the tokens of a real tokenizer.
  const configFile = join(model, 'config.json');
  const config = JSON.parse(readFileSync(configFile, 'utf8')) as Record<string, unknown>;
  writeFileSync(configFile, JSON.stringify({ ...config, max_position_embeddings: 4096 }));
  return folder;
}

/** Runs a block as a module of its own against the sources. */
export function runProgram(folder: string, { page, line, code }: CodeBlock) {
  const file = join(folder, `${page.replace(/\W+/g, '-')}-${line}.mts`);
  const library = pathToFileURL(join(ROOT, 'lib/index.ts')).href;
  writeFileSync(file, code.replace("from 'grpo-native'", `from '${library}'`));
  return spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), file], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 240_000,
  });
}
