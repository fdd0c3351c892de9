import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { requireBuildTools } from '../../lib/setup/build.js';
import { formatChecks, runChecks } from '../../lib/setup/doctor.js';
import { checkBuildTool, checkCmake, checkCompiler } from '../../lib/setup/tools.js';
import { programFolder } from '../libtorch/fake-wheels.js';

function fake(name: string, script: string): NodeJS.ProcessEnv {
  const folder = programFolder(['sh', 'cat']);
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return { PATH: folder };
}

test('a compiler that is there and able is found, by its name or by CXX', () => {
  assert.ok(checkCompiler().ok, checkCompiler().detail);
  assert.is(checkCompiler({ ...process.env, CXX: 'no-such-compiler' }).detail, 'no-such-compiler is not installed');
});

test('a compiler without C++20 or OpenMP is told apart from none', () => {
  const old = checkCompiler(fake('c++', 'cat > /dev/null; echo "fatal error: omp.h: No such file" >&2; exit 1'));
  assert.not(old.ok);
  assert.match(old.detail, 'c++ compiles no C++20 with OpenMP: fatal error: omp.h');
});

test('CMake must be 3.22 or newer', () => {
  assert.ok(checkCmake(fake('cmake', 'echo cmake version 3.22.1')).ok);
  assert.ok(checkCmake(fake('cmake', 'echo cmake version 4.0.0')).ok);
  const old = checkCmake(fake('cmake', 'echo cmake version 3.18.4'));
  assert.not(old.ok);
  assert.is(old.detail, 'cmake version 3.18.4 is older than 3.22');
});

test('ninja or make does', () => {
  assert.is(checkBuildTool(fake('ninja', 'echo 1.11.1')).detail, 'ninja 1.11.1');
  assert.is(checkBuildTool(fake('make', 'echo GNU Make 4.3')).detail, 'GNU Make 4.3');
  assert.is(checkBuildTool({ PATH: programFolder([]) }).install, 'apt-get install make');
});

test('without a prebuilt core and without tools there is one error with the line that installs them', () => {
  try {
    requireBuildTools({ PATH: programFolder([]) });
    assert.unreachable();
  } catch (error) {
    assert.instance(error, GrpoError);
    assert.is((error as GrpoError).code, 'BUILD_FAILED');
    assert.match((error as GrpoError).message, /no prebuilt core fits/);
    assert.match((error as GrpoError).message, /apt-get install g\+\+ cmake make$/);
    assert.not.match((error as GrpoError).message, '\n');
  }
});

test('doctor names what is missing and the line that installs it', () => {
  const checks = runChecks({ PATH: programFolder(['sh']), GRPO_LIBTORCH: '/none' });
  const of = (name: string) => checks.find((check) => check.name === name);
  assert.equal(of('Node.js'), { name: 'Node.js', state: 'ok', detail: process.versions.node });
  assert.equal(of('python3'), {
    name: 'python3',
    state: 'missing',
    detail: 'not installed',
    mend: 'apt-get install python3',
  });
  assert.is(of('bubblewrap')?.mend, 'apt-get install bubblewrap');
  assert.is(of('CMake')?.mend, 'apt-get install cmake');
  assert.is(of('libtorch')?.state, 'missing');
  assert.match(of('libtorch')?.detail ?? '', 'GRPO_LIBTORCH must name');
  const text = formatChecks(checks);
  assert.match(text, /missing {2}bubblewrap +not installed\n +-> apt-get install bubblewrap\n/);
  assert.match(text, /\d of 10 checks failed\n$/);
});

test('a bubblewrap that may not make namespaces is missing too, with its reason', () => {
  const env = fake(
    'bwrap',
    'case "$1" in --version) echo bubblewrap 0.8.0;; *) echo "bwrap: setting up uid map: denied" >&2; exit 1;; esac',
  );
  const check = runChecks({ ...env, GRPO_LIBTORCH: '/none' }).find(({ name }) => name === 'bubblewrap');
  assert.is(check?.state, 'missing');
  assert.match(check?.detail ?? '', 'makes no sandbox: bwrap: setting up uid map: denied');
});

test.run();
