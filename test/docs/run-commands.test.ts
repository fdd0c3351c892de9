import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandFolder, runCommand } from './run-commands.js';
import { endsSoon, OWN_COMMANDS } from './shell.js';

const commands = OWN_COMMANDS.filter(endsSoon);
let folder = '';
test.before(async () => {
  folder = await commandFolder();
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

for (const command of commands) {
  test(`the command of ${command.page}, line ${command.line}, runs: ${command.words.join(' ')}`, () => {
    const { status, stdout, stderr } = runCommand(folder, command);
    assert.is(status, 0, stderr);
    assert.ok(stdout.trim().length > 0);
  });
}

test('they leave what the pages say', () => {
  const named = new Set(commands.map(({ words }) => words[0]));
  for (const name of ['docs', 'eval', 'generate', 'log', 'report', 'sft']) assert.ok(named.has(name), name);
  for (const name of ['runs/mine/report.html', 'comparison.html', 'runs/NAME/tensorboard']) {
    assert.ok(existsSync(join(folder, name)), name);
  }
});

test.run();
