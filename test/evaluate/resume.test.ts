import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluate } from '../../lib/evaluate/index.js';
import { quietReporter } from '../../lib/run/index.js';
import { wordEnvironment } from '../rollout/fake-environment.js';
import { FakePolicy } from '../rollout/fake-policy.js';

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-resume-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

/** Solves the even words in draws with an even seed: what comes out depends on the seeds only. */
const bySeed = (context: string, seed: number) => {
  const word = /say (w\d)/.exec(context)![1]!;
  return Number(word[1]) % 2 === 0 && seed % 2 === 0 ? `<submit>${word}</submit>` : 'no';
};
const environment = () => wordEnvironment();
const failure = async (call: Promise<unknown>) =>
  (await call.catch((caught: unknown) => caught)) as { code: string; message: string };

test('an evaluation that was stopped goes on with what is done, and ends as an uninterrupted one', async () => {
  const settings = { environment: environment(), samples: 4, k: [1, 2], concurrency: 1 };
  const whole = await evaluate(settings, { policy: new FakePolicy({ script: bySeed }), reporter: quietReporter });
  const output = join(folder, 'results.json');
  const controller = new AbortController();
  let turns = 0;
  const stopping = new FakePolicy({
    script: (context, seed) => {
      if (++turns === 11) controller.abort();
      return bySeed(context, seed);
    },
  });
  const error = await failure(
    evaluate({ ...settings, output }, { policy: stopping, reporter: quietReporter, signal: controller.signal }),
  );
  assert.is(error.code, 'ABORTED');
  assert.not.ok(existsSync(output));
  const file = `${output}.episodes.jsonl`;
  const kept = readFileSync(file, 'utf8').trim().split('\n').length - 1;
  assert.is(kept, 10);
  // A crash in the middle of a write leaves half a line.
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"place":{"wei`);
  let again = 0;
  const policy = new FakePolicy({
    script: (context, seed) => {
      again++;
      return bySeed(context, seed);
    },
  });
  const resumed = await evaluate({ ...settings, output, resume: true }, { policy, reporter: quietReporter });
  assert.is(again, 24 - kept, 'only what was missing is sampled');
  const plain = (record: object) => ({ ...record, seconds: 0 });
  assert.equal(resumed.baseline.map(plain), whole.baseline.map(plain));
  assert.ok(existsSync(output));
  assert.is(readFileSync(file, 'utf8').trim().split('\n').length - 1, 24, 'every episode is kept once');
});

test('episodes of an earlier evaluation are not overwritten, and not mixed with other settings', async () => {
  const output = join(folder, 'results.json');
  const run = (extra: object) =>
    evaluate(
      { environment: environment(), output, ...extra },
      { policy: new FakePolicy({ script: bySeed }), reporter: quietReporter },
    );
  await run({});
  const again = await failure(run({}));
  assert.is(again.code, 'RUN_EXISTS');
  assert.match(again.message, /holds episodes of an earlier evaluation: go on with --resume/);
  const other = await failure(run({ resume: true, temperature: 0.5 }));
  assert.is(other.code, 'INVALID_CONFIG');
  assert.match(other.message, /another model, other tasks or settings/);
  const lone = await failure(run({ resume: true, output: undefined }));
  assert.match(lone.message, /resume does not apply here: it needs output/);
});

test('what an evaluation would overwrite is refused before it runs', async () => {
  const output = join(folder, 'results.json');
  const policy = new FakePolicy({ script: () => assert.unreachable('an episode was run') as never });
  const run = (extra: object) =>
    failure(evaluate({ environment: environment(), output, ...extra }, { policy, reporter: quietReporter }));
  writeFileSync(output, '{"something":"else"}');
  const exists = await run({});
  assert.is(exists.code, 'RUN_EXISTS');
  assert.match(exists.message, /results\.json exists already: remove it, or choose another --output/);
  assert.is(readFileSync(output, 'utf8'), '{"something":"else"}');
  const inFolder = await run({ output: folder });
  assert.is(inFolder.code, 'INVALID_CONFIG');
  assert.match(inFolder.message, /output must be a file, but .* is a folder/);
});

test('an evaluation that failed before its first episode does not stand in the way of the next', async () => {
  const output = join(folder, 'results.json');
  const failed = await failure(
    evaluate({ environment: environment(), output, model: join(folder, 'nowhere') }, { reporter: quietReporter }),
  );
  assert.is(failed.code, 'INVALID_MODEL');
  const policy = new FakePolicy({ script: bySeed });
  await evaluate({ environment: environment(), output }, { policy, reporter: quietReporter });
  assert.ok(existsSync(output));
});

test('a damaged file of finished episodes is an error that names the line', async () => {
  const output = join(folder, 'results.json');
  const file = `${output}.episodes.jsonl`;
  const run = (extra: object) =>
    evaluate(
      { environment: environment(), output, ...extra },
      { policy: new FakePolicy({ script: bySeed }), reporter: quietReporter },
    );
  await run({});
  const whole = readFileSync(file, 'utf8');
  const lines = whole.split('\n');
  for (const damage of ['{"place":{"wei', 'null', '{}']) {
    writeFileSync(file, [...lines.slice(0, 2), damage, ...lines.slice(3)].join('\n'));
    const error = await failure(run({ resume: true }));
    assert.is(error.code, 'RUN_INVALID');
    assert.match(error.message, /results\.json\.episodes\.jsonl:3 is no finished episode: remove that line/);
  }
  for (const foreign of ['hello\n', '[]\n', '{"a":1}\n']) {
    writeFileSync(file, foreign);
    const error = await failure(run({}));
    assert.is(error.code, 'RUN_INVALID');
    assert.match(error.message, /is no file of finished episodes; choose another --output/);
    assert.is(readFileSync(file, 'utf8'), foreign);
  }
});

test('pass@k for several k comes from the same samples, unbiased', async () => {
  const policy = new FakePolicy({
    // Draws with these words pass: t0 in 3 of 10, the others never.
    script: (() => {
      let solved = 0;
      return (context: string) => (/say w0/.test(context) && solved++ < 3 ? '<submit>w0</submit>' : 'no');
    })(),
  });
  const { baseline } = await evaluate(
    { environment: environment(), samples: 10, k: [1, 5] },
    { policy, reporter: quietReporter },
  );
  const near = (value: number | null | undefined, wanted: number) =>
    assert.ok(Math.abs(Number(value) - wanted) < 1e-6, `${value}`);
  near(baseline[0]!.pass_at_k!['1'], 0.3 / 6);
  near(baseline[0]!.pass_at_k!['5'], 0.9166667 / 6);
  const error = await failure(evaluate({ environment: environment(), samples: 2, k: [1, 5] }, { policy }));
  assert.match(error.message, /k 5 is larger than samples 2/);
});

test('calls that could not be parsed are counted an episode', async () => {
  const policy = new FakePolicy({
    script: (context) => (/say w[01]$/m.test(context.split('<end>')[0]!) ? '<broken' : 'no'),
  });
  const { baseline } = await evaluate({ environment: environment() }, { policy, reporter: quietReporter });
  assert.is(baseline[0]!.invalid_calls_mean, (2 * 3) / 6, 'two of six episodes with three turns each');
  assert.is(baseline[0]!.malformed_rate, 2 / 6);
});

test.run();
