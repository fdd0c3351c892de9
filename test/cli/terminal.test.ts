import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SKIPPED } from '../harness.js';
import { rowsOf } from '../terminal/screen.js';

const root = join(import.meta.dirname, '../..');
const program = join(import.meta.dirname, 'terminal-run.ts');
const env = { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, TERM: 'xterm' };
const hasScript = spawnSync('script', ['--version']).status === 0;

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-terminal-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const node = (...args: string[]) => [process.execPath, '--import', 'tsx', ...args];

function piped(...args: string[]): { stdout: string; stderr: string } {
  const [command, ...rest] = node(program, ...args) as [string, ...string[]];
  const { stdout, stderr, status } = spawnSync(command, rest, { encoding: 'utf8', cwd: root, env });
  assert.is(status, 0, stderr);
  return { stdout, stderr };
}

/** Everything that a pseudo terminal of 80 columns receives. */
function onTerminal(args: string[], more: NodeJS.ProcessEnv = {}): { output: string; status: number | null } {
  const command = `stty cols 80; exec ${args.map((word) => `'${word}'`).join(' ')}`;
  const { stdout, status } = spawnSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    cwd: root,
    env: { ...env, ...more },
    input: '',
  });
  return { output: stdout.replaceAll('\r\n', '\n'), status };
}

test('piped, a run is one calm line a step and evaluation, without colours', () => {
  const { stdout, stderr } = piped(join(folder, 'run'));
  const lines = stdout.split('\n');
  assert.is(lines.filter((line) => line.startsWith('step ')).length, 3);
  assert.is(lines.filter((line) => line.startsWith('evaluation ')).length, 2);
  assert.not.match(stdout, '\u001b');
  assert.not.match(stdout, '\r');
  assert.match(stdout, /\n {2,}reward +n\nBaseline \(multi-tool\) +0\.000 +1\n/);
  assert.match(stdout, `run folder ${join(folder, 'run')}`);
  assert.is(stderr, '');
});

test('with json every line is one object, the first names the folder and the last says how the run ended', () => {
  const { stdout } = piped(join(folder, 'run'), 'json');
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  const run = join(folder, 'run');
  assert.equal(
    events.find(({ type }) => type !== 'message' && type !== 'warning'),
    { type: 'run', run, step: 0 },
  );
  assert.equal(
    events.filter(({ type }) => type === 'step' || type === 'evaluation').map(({ type }) => type),
    ['evaluation', 'step', 'step', 'step', 'evaluation'],
  );
  assert.equal(events.at(-1), { type: 'end', run, steps: 3, adapter: join(run, 'adapter'), interrupted: false });
  const [first] = readFileSync(join(run, 'metrics.jsonl'), 'utf8').split('\n');
  assert.equal(
    events.find(({ type }) => type === 'step'),
    { type: 'step', ...(JSON.parse(first!) as object) },
  );
});

test('with quiet nothing is printed', () => {
  assert.equal(piped(join(folder, 'run'), 'quiet'), { stdout: '', stderr: '' });
});

if (!hasScript)
  console.log(`${SKIPPED} util-linux's script is not installed, so nothing is tried on a pseudo terminal`);
else {
  test('on a terminal a live line shows the episodes, and leaves no trace between the lines that stay', () => {
    const { output, status } = onTerminal(node(program, join(folder, 'run'), 'constant'));
    assert.is(status, 0, output);
    assert.match(output, /step 2\/3 [█░]+ \d\/8 episodes {2}\d+ tok\/s {2}reward 0\.00/);
    assert.match(output, /step 3\/3 .*episodes.* \d+ s left/);
    assert.match(output, '\u001b[1mstep 1/3\u001b[22m');
    const rows = rowsOf(output);
    const kinds = rows.map((row) => /^(step|evaluation|warning|run folder|page|Baseline|RL)\b/.exec(row)?.[0]);
    assert.equal(
      kinds.filter((kind) => ['step', 'evaluation', 'warning', 'run folder', 'page'].includes(kind ?? '')),
      ['run folder', 'evaluation', 'step', 'warning', 'step', 'step', 'evaluation', 'page'],
      rows.join('\n'),
    );
    assert.ok(
      rows.every((row) => !/█|episodes {2}/.test(row)),
      'no live line stays',
    );
    for (const row of rows.slice(kinds.indexOf('Baseline') - 1))
      assert.ok(row.length <= 80 || row.includes(folder), row);
  });

  test('NO_COLOR takes the colours away and keeps the live line', () => {
    const { output } = onTerminal(node(program, join(folder, 'run')), { NO_COLOR: '1' });
    assert.match(output, '\r\u001b[2Kstep 1/3');

    assert.not.match(output, /\u001b\[\d+m/);
  });

  test('an error is one line with the fix, in colour on a terminal only', () => {
    const cli = node(join(root, 'bin/cli.ts'), 'train', '--grup-size', '4');
    const { output, status } = onTerminal(cli);
    assert.is(output, '\u001b[31mgrpo-native:\u001b[39m unknown option --grup-size; did you mean --group-size?\n');
    assert.is(status, 2);
    const [command, ...rest] = cli as [string, ...string[]];
    const { stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8', cwd: root, env });
    assert.is(stderr, 'grpo-native: unknown option --grup-size; did you mean --group-size?\n');
    assert.is(stdout, '');
  });
}

test.run();
