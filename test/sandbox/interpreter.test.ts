import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { unusedUserIds } from '../../lib/sandbox/bubblewrap.js';
import { cleanEnvironment } from '../../lib/sandbox/environment.js';
import { findInterpreter, layOut } from '../../lib/sandbox/interpreter.js';
import { GrpoError } from '../../lib/errors.js';

test('an interpreter in a home lies at a neutral path, packages of a virtual environment beside it', () => {
  const layout = layOut({
    executable: '/home/ada/python/bin/python3.12',
    prefix: '/home/ada/python',
    version: '3.12.1',
    folders: [
      '/home/ada/python/lib/python3.12',
      '/home/ada/venv/lib/python3.12/site-packages',
      '/usr/lib/python3/dist-packages',
    ],
  });
  assert.is(layout.executable, '/python/bin/python3.12');
  assert.equal(layout.binds, [
    ['/home/ada/python', '/python'],
    ['/home/ada/venv/lib/python3.12/site-packages', '/packages/0'],
  ]);
  assert.equal(layout.sites, ['/packages/0']);
  assert.equal(layout.packages, ['/python/lib/python3.12', '/usr/lib/python3/dist-packages']);
  assert.is(layout.libraryFolder, '/python/lib');
});

test("the system's interpreter needs no folder of its own", () => {
  const layout = layOut({
    executable: '/usr/bin/python3.11',
    prefix: '/usr',
    version: '3.11.2',
    folders: ['/usr/lib/python3.11', '/usr/local/lib/python3.11/dist-packages'],
  });
  assert.equal(layout, {
    executable: '/usr/bin/python3.11',
    binds: [],
    sites: [],
    packages: ['/usr/lib/python3.11', '/usr/local/lib/python3.11/dist-packages'],
    libraryFolder: undefined,
  });
});

test('an interpreter that does not start is named', async () => {
  try {
    await findInterpreter('/nowhere/python3');
    assert.unreachable();
  } catch (error) {
    assert.is((error as GrpoError).code, 'SANDBOX_UNAVAILABLE');
    assert.match((error as GrpoError).message, /\/nowhere\/python3.*apt-get install python3/);
  }
});

test('user ids are taken from the upper half of the largest range that is mapped', () => {
  assert.equal(unusedUserIds('         0          0 4294967295\n'), [2 ** 30, 2 ** 31]);
  assert.equal(unusedUserIds('0 1000 1\n1 100000 65536\n'), [32769, 65537]);
  assert.is(unusedUserIds('0 1000 1\n'), undefined);
});

test('the environment of a program holds nothing of ours', () => {
  assert.equal(Object.keys(cleanEnvironment('/tmp')).sort(), [
    'HOME',
    'LANG',
    'LOGNAME',
    'MALLOC_ARENA_MAX',
    'MKL_NUM_THREADS',
    'MPLBACKEND',
    'OMP_NUM_THREADS',
    'OPENBLAS_NUM_THREADS',
    'PATH',
    'PYTHONDONTWRITEBYTECODE',
    'PYTHONHASHSEED',
    'PYTHONNOUSERSITE',
    'TMPDIR',
    'USER',
  ]);
});

test.run();
