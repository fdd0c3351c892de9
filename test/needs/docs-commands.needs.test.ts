import { rmSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Sandbox } from '../../lib/sandbox/index.js';
import { commandFolder, runCommand } from '../docs/run-commands.js';
import { checksTasks, OWN_COMMANDS } from '../docs/shell.js';
import { skipAloud } from '../harness.js';

const commands = OWN_COMMANDS.filter(checksTasks);

async function main() {
  try {
    await (await Sandbox.open()).close();
  } catch (error) {
    skipAloud((error as Error).message);
  }
  const folder = await commandFolder();
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const command of commands) {
    test(`the command of ${command.page}, line ${command.line}, runs in a sandbox`, () => {
      const { status, stdout, stderr } = runCommand(folder, command);
      assert.is(status, 0, stderr);
      assert.match(stdout, /\b30\b/);
    });
  }
  test('there are such commands', () => assert.ok(commands.length > 0));
  test.run();
}

void main();
