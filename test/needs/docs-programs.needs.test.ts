import { rmSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Sandbox } from '../../lib/sandbox/index.js';
import { needsSandbox, PROGRAMS } from '../docs/pages.js';
import { programFolder, runProgram } from '../docs/run-program.js';
import { skipAloud } from '../harness.js';

const programs = PROGRAMS.filter(needsSandbox);

async function main() {
  try {
    await (await Sandbox.open()).close();
  } catch (error) {
    skipAloud((error as Error).message);
  }
  const folder = await programFolder();
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const program of programs) {
    test(`the program of ${program.page}, line ${program.line}, runs in a sandbox`, () => {
      const { status, stderr } = runProgram(folder, program);
      assert.is(status, 0, stderr);
    });
  }
  test('there are such programs', () => assert.ok(programs.length > 0));
  test.run();
}

void main();
