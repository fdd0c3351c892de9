import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, runChild } from './child.js';

const leave = (way: string, onReady?: (kill: (signal: NodeJS.Signals) => void) => void): Promise<Ending> =>
  runChild({ file: 'leaving-program.ts', args: [way] }, onReady ? { onReady } : {});

function clean(ending: Ending, code: number, stderr: RegExp | '' = ''): void {
  assert.is(ending.signal, null, `killed by ${ending.signal}\n${ending.stderr}`);
  assert.is(ending.code, code, ending.stderr);
  if (stderr) assert.match(ending.stderr, stderr);
  else assert.is(ending.stderr, '');
  assert.match(ending.stdout, /^ready$/m);
  assert.ok(ending.ms < 6000, `took ${ending.ms} ms to leave`);
}

test('a program that ends by itself, its policy still open, ends at once with its code', async () => {
  const ending = await runChild({ file: 'natural-end-program.ts' });
  clean(ending, 4);
  assert.match(ending.stdout, '5 tokens');
});

test('close() in the middle of steps lets the program end by itself', async () => {
  clean(await leave('close'), 3);
});

test('process.exit() in the middle of a step keeps its code', async () => {
  clean(await leave('exit'), 7);
});

test('an exit listener may still change the code', async () => {
  clean(await leave('exit listener'), 9);
});

test('an uncaught exception in the middle of a step ends with 1 and its message', async () => {
  clean(await leave('throw'), 1, /Error: thrown on purpose/);
});

test('SIGINT and SIGTERM without a listener end the process at once', async () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const ending = await leave('signal', (kill) => setTimeout(() => kill(signal), 100));
    assert.is(ending.signal, signal);
    assert.is(ending.stderr, '');
    assert.ok(ending.ms < 3000, `${ending.ms} ms`);
  }
});

test('SIGINT with a listener that calls process.exit() keeps its code', async () => {
  clean(await leave('handled SIGINT', (kill) => setTimeout(() => kill('SIGINT'), 300)), 130);
});

for (const [way, expected] of [
  ['terminate', 'worker 1'],
  ['exit', 'worker 5'],
  ['throw', 'error thrown in a worker\nworker 1'],
] as const) {
  test(`a worker that ends by ${way} in the middle of a step leaves the main thread's policy alone`, async () => {
    const ending = await runChild({ file: 'worker-program.ts', args: [way] });
    assert.is(ending.signal, null, ending.stderr);
    assert.is(ending.stdout, `${expected}\nupdate null\n`);
    assert.is(ending.code, 6, ending.stderr);
  });
}

test.run();
