import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bench, benchText } from '../../lib/bench/index.js';
import { measure, median } from '../../lib/bench/measure.js';
import { measurePrograms } from '../../lib/bench/sandbox-speed.js';

const model = join(import.meta.dirname, '../fixtures/models/qwen3-tiny');

test('the middle of an even number of values is the lower one', () => {
  assert.is(
    median([5, 1, 9], (value) => value),
    5,
  );
  assert.is(
    median([5, 1, 9, 7], (value) => value),
    5,
  );
});

test('a measurement warms up once, prepares every round outside of it, and takes the middle', async () => {
  const rounds = [200, 20, 90, 40];
  let prepared = 0;
  let ms = 0;
  const prepare = () => {
    ms += 1000;
    return Promise.resolve(rounds[prepared++]!);
  };
  const work = (takes: number) => Promise.resolve((ms += takes));
  const { seconds } = await measure(3, prepare, work, () => ms);
  assert.is(prepared, 4);
  assert.is(seconds, 0.04);
});

test('programs run so many at a time, each once', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  await measurePrograms(10, 3, async () => {
    most = Math.max(most, ++running);
    runs++;
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
  });
  assert.equal([runs, most], [10, 3]);
});

test('a policy is measured in decoding, scoring and updating, with what the numbers depend on', async () => {
  const parts: string[] = [];
  const result = await bench(
    { model, parts: ['policy'], dtype: 'float32', newTokens: 4, rounds: 1 },
    { onPart: (text) => parts.push(text) },
  );
  const { policy } = result;
  assert.is(policy?.dtype, 'float32');
  assert.is(policy?.device, 'cpu');
  const { speeds } = policy!;
  assert.equal(
    speeds.slice(0, 3).map(({ name, tokens }) => [name, tokens]),
    [
      ['decode, 1 sequence', 4],
      ['decode, 8 sequences', 32],
      ['decode, 32 sequences', 128],
    ],
  );
  assert.match(speeds[3]!.name, /^score, 8 rows of \d+$/);
  assert.match(speeds[4]!.name, /^update, 8 rows of \d+$/);
  for (const { tokens, seconds, tokensPerSecond } of speeds) assert.is(tokensPerSecond, tokens / seconds);
  assert.ok(speeds[4]!.peakBytes! > 0);
  assert.equal(
    parts.slice(1),
    speeds.map(({ name }) => name),
  );
  assert.is(result.sandbox, undefined);
  const text = benchText(result);
  assert.match(text, /qwen3-tiny: [\d.]+ M parameters, float32 on cpu, loaded in/);
  assert.match(text, /\ndecode, 32 sequences +[\d.]+ +[\d.]+\n/);
  assert.match(text, /\nupdate, 8 rows of \d+ +[\d.]+ +[\d.]+ {3}peak [\d.]+ MB$/);
});

test('the documentation search is measured by itself, and a wrong part is an error', async () => {
  const { docs, policy, version } = await bench({ parts: ['docs'] });
  assert.is(policy, undefined);
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.ok(docs!.symbols > 1000 && docs!.searchMs > 0);
  const error = (await bench({ parts: ['doc'] as never }).catch((caught: unknown) => caught)) as Error;
  assert.match(error.message, /parts must be a list of one or more of policy, sandbox, docs, .* did you mean docs\?/);
});

test('a machine without a sandbox says so in place of a number', () => {
  const machine = { version: '1.0.0', commit: null, node: '20', processor: 'x', processors: 2 };
  const text = benchText({ ...machine, sandbox: { unavailable: 'bubblewrap is not installed' } });
  assert.match(text, /\nsandbox: not measured: bubblewrap is not installed$/);
});

test.run();
