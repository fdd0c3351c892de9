import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { needsSandbox, PROGRAMS, ROOT } from './pages.js';
import { programFolder, runProgram } from './run-program.js';

// The README shows an example, which test/examples runs.
const programs = PROGRAMS.filter((program) => !needsSandbox(program) && program.page !== 'README.md');
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

test('they leave what they say', () => {
  assert.ok(existsSync(join(folder, 'my-adapter/adapter_model.safetensors')));
  assert.ok(existsSync(join(folder, 'run/step-1/checkpoint.json')));
  assert.ok(existsSync(join(folder, 'runs')));
});

test('the program of the README is the example of its own', () => {
  const shown = PROGRAMS.filter(({ page }) => page === 'README.md').map(({ code }) => code);
  assert.equal(shown, [readFileSync(join(ROOT, 'examples/own-environment.js'), 'utf8')]);
});

test.run();
