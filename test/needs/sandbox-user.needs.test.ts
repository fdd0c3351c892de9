// The suites of the sandbox once more, as a user who is not root.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { skipAloud } from '../harness.js';

const USER = '54321';
const ROOT = join(import.meta.dirname, '../..');
const SUITES = ['test/needs/sandbox-bubblewrap.needs.test.ts', 'test/sandbox/sandbox.test.ts'];
const TIMEOUT_MS = 300_000;

if (process.getuid?.() !== 0) skipAloud('only root can become another user; these suites run as a user already');
if (spawnSync('setpriv', ['--version']).status !== 0) skipAloud('setpriv (util-linux) is missing');
if (spawnSync('bwrap', ['--version']).status !== 0) skipAloud('bubblewrap is missing: apt-get install bubblewrap');
if (!existsSync('/usr/bin/python3'))
  skipAloud('/usr/bin/python3 is missing: a user cannot read a python in a home of root');

// A home of root is closed to users, so what the suites need is copied to a place that they can read.
const folder = mkdtempSync(join(tmpdir(), 'grpo-native-user-'));
chmodSync(folder, 0o755);
for (const part of ['lib', 'test', 'package.json', 'tsconfig.json'])
  cpSync(join(ROOT, part), join(folder, part), { recursive: true });
const isReadable =
  spawnSync('setpriv', [
    '--reuid',
    USER,
    '--regid',
    USER,
    '--clear-groups',
    'test',
    '-r',
    join(ROOT, 'node_modules/tsx'),
  ]).status === 0;
if (isReadable) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
else cpSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), { recursive: true });
const home = mkdtempSync(join(tmpdir(), 'grpo-native-home-'));
chmodSync(home, 0o777);

for (const suite of SUITES) {
  test(`${suite} passes as a user`, () => {
    const identity = ['--reuid', USER, '--regid', USER, '--clear-groups', '--inh-caps=-all', '--no-new-privs'];
    const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, TMPDIR: home };
    const found = spawnSync('setpriv', [...identity, process.execPath, '--import', 'tsx', suite], {
      cwd: folder,
      env: environment,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
    });
    assert.not.match(found.stdout, /SKIPPED:/);
    const said = `${found.stdout.slice(-3000)}\n${found.stderr.slice(-3000)}`;
    assert.is(found.status, 0, said);
    assert.match(found.stdout, /Passed:\s+[1-9]/, said);
  });
}

test.after(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
});

test.run();
