import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { needsSandbox, PROGRAMS } from './pages.js';
import { programFolder, runProgram } from './run-program.js';

const programs = PROGRAMS.filter((program) => !needsSandbox(program));
let folder = '';
test.before(async () => {
  folder = await programFolder();
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

for (const program of programs) {
  test(`the program of ${program.page}, line ${program.line}, runs`, () => {
    const { status, stderr } = runProgram(folder, program);
    assert.is(status, 0, stderr);
  });
}

test('the programs of the README leave what it says', () => {
  assert.is(programs.filter(({ page }) => page === 'README.md').length, 2);
  assert.ok(existsSync(join(folder, 'my-adapter/adapter_model.safetensors')));
  assert.ok(existsSync(join(folder, 'runs')));
});

test.run();
