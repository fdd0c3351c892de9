import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse as parseYaml } from 'yaml';
import { orDemo, resolveTrainConfig } from '../../lib/config/index.js';
import type { TrainInput } from '../../lib/config/index.js';
import { loadTasks } from '../../lib/data/load-tasks.js';
import { codeBlocks, PAGES, PROGRAMS } from './pages.js';

const blocks = PAGES.flatMap(codeBlocks);
const folder = mkdtempSync(join(tmpdir(), 'grpo-data-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const isRecord = (text: string) => /^\{"id"/.test(text);

/** What is no task is a configuration of `train`; one that names no model is a part of one. */
async function accept(language: string, text: string): Promise<void> {
  if (language === 'json' && isRecord(text)) {
    const file = join(folder, 'tasks.jsonl');
    writeFileSync(file, text);
    await loadTasks(file);
    return;
  }
  const value: unknown = language === 'json' ? JSON.parse(text) : parseYaml(text);
  resolveTrainConfig(orDemo(value as TrainInput));
}

const data = blocks.filter(({ language }) => /^(json|jsonl|ya?ml)$/.test(language));
for (const { page, line, language, code } of data) {
  test(`the ${language} of ${page}, line ${line}, is a task or a configuration`, () => accept(language, code));
}

test('there are records and configurations, and wrong ones are refused', async () => {
  assert.ok(data.some(({ code }) => isRecord(code)));
  assert.ok(data.some(({ code }) => !isRecord(code)));
  const refusal = (text: string) =>
    accept('json', text).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  assert.match(await refusal('{"id": "double", "prompt": 3}'), /tasks\.jsonl:1/);
  assert.match(await refusal('{"grupSize": 4}'), /did you mean groupSize/);
});

test('every block of JavaScript is a whole program, which the tests run, and no block is of a language they skip', () => {
  const programs = blocks.filter(({ language }) => /^[jt]s$/.test(language));
  const left = programs.filter(({ page, line }) => !PROGRAMS.some((run) => run.page === page && run.line === line));
  assert.equal(
    left.map(({ page, line }) => `${page}:${line}`),
    [],
  );
  const known = ['sh', 'js', 'ts', 'json', 'jsonl', 'yaml', 'python', 'cpp'];
  assert.equal(
    blocks.filter(({ language }) => !known.includes(language)).map(({ page, line }) => `${page}:${line}`),
    [],
  );
});

test.run();
