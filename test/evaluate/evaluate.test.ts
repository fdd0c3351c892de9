import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GrpoError } from '../../lib/errors.js';
import { evaluate, generate } from '../../lib/evaluate/index.js';
import { quietReporter } from '../../lib/run/index.js';
import { FakePolicy } from '../rollout/fake-policy.js';
import { wordEnvironment } from '../rollout/fake-environment.js';

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-eval-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

/** Tasks w0, w2, w4 are solved in every second draw, the others never. */
const evenHalf = () => {
  const times = new Map<string, number>();
  return (context: string) => {
    const word = /say (w\d)/.exec(context)![1]!;
    const before = times.get(word) ?? 0;
    times.set(word, before + 1);
    return Number(word[1]) % 2 === 0 && before % 2 === 0 ? `<submit>${word}</submit>` : 'no';
  };
};

test('pass@1, pass@k and the interval come from the samples of each task', async () => {
  const policy = new FakePolicy({ script: evenHalf() });
  const output = join(folder, 'results.json');
  const { baseline, trained } = await evaluate(
    { environment: wordEnvironment(), samples: 4, k: 2, output },
    { policy, reporter: quietReporter },
  );
  const [record] = baseline;
  assert.is(baseline.length, 1);
  assert.equal(trained, []);
  assert.is(record!.n, 24);
  assert.is(record!.tasks, 6);
  assert.is(record!.samples_per_task, 4);
  assert.is(record!.temperature, 0, 'greedy by default');
  assert.is(record!.pass_rate, 0.25);
  assert.ok(Math.abs(record!.pass_at_k!['2']! - (3 * (5 / 6)) / 6) < 1e-12, 'n 4, c 2, k 2 is 5/6');
  assert.ok(record!.ci95[0]! < 0.25 && record!.ci95[1]! > 0.25);
  assert.is(record!.submit_rate, 0.25);
  const file = JSON.parse(readFileSync(output, 'utf8')) as { evaluations: { weights: string }[]; table: unknown[] };
  assert.equal(
    file.evaluations.map((entry) => entry.weights),
    ['base'],
  );
  assert.is(file.table.length, 1);
});

test('invalid episodes are excluded and counted', async () => {
  let calls = 0;
  const environment = wordEnvironment({
    rewards: [{ name: 'judge', score: () => (calls++ % 3 === 0 ? { invalid: 'down' } : 1) }],
  });
  const policy = new FakePolicy({ script: () => 'no' });
  const { baseline } = await evaluate({ environment }, { policy, reporter: quietReporter });
  assert.is(baseline[0]!.n, 4);
  assert.is(baseline[0]!.episodes_invalid, 2);
  assert.equal(baseline[0]!.invalid_reasons, { down: 2 });
  assert.is(baseline[0]!.reward_mean, 1);
  assert.is(baseline[0]!.pass_rate, null, 'no verdict, no pass rate');
});

test('tasks that say whether they need the documentation give two search rates', async () => {
  const base = wordEnvironment();
  const tasks = base.tasks.map((task, index) => ({ ...task, needsSearch: index < 2 }));
  const search = { ...base.tools[0]!, name: 'search' };
  const environment = { ...base, tasks, tools: [search, base.tools[1]!] };
  const policy = new FakePolicy({
    script: (context) => (/say w[02]$/m.test(context.split('<end>')[0]!) ? '<search>x</search>' : 'no'),
  });
  const { baseline } = await evaluate({ environment }, { policy, reporter: quietReporter });
  assert.is(baseline[0]!.search_rate, 2 / 6);
  assert.is(baseline[0]!.search_rate_needed, 0.5);
  assert.is(baseline[0]!.search_rate_unneeded, 0.25);
});

test('a mode that the environment lacks is an error', async () => {
  const policy = new FakePolicy({ script: () => 'no' });
  const error = (await evaluate(
    { environment: wordEnvironment(), modes: ['code-only'] },
    { policy, reporter: quietReporter },
  ).catch((caught: unknown) => caught)) as Error;
  assert.match(error.message, /mode code-only does not apply here: environment words has multi-tool/);
});

test('several samples of a greedy model are said to be the same', async () => {
  const said: string[] = [];
  const reporter = { ...quietReporter, message: (text: string) => void said.push(text) };
  const run = (extra: object) =>
    evaluate(
      { environment: wordEnvironment(), ...extra },
      { policy: new FakePolicy({ script: () => 'no' }), reporter },
    );
  await run({ samples: 2, temperature: 0.8 });
  assert.equal(said, []);
  await run({ samples: 2 });
  assert.match(said.join(), /2 samples at temperature 0 are the same answer: give --temperature/);
});

test('a mode that is named twice is an error, and runs nothing', async () => {
  const error = (await evaluate({ environment: wordEnvironment(), modes: ['multi-tool', 'multi-tool'] }).catch(
    (caught: unknown) => caught,
  )) as Error;
  assert.match(error.message, /modes names multi-tool twice/);
});

test('what is wrong with the adapter is said before the baseline is evaluated', async () => {
  const model = join(import.meta.dirname, '..', 'fixtures', 'models', 'llama-tiny');
  const base = wordEnvironment();
  const prompt = () => assert.unreachable('an episode was begun') as never;
  for (const adapter of ['nowhere', model]) {
    const error = (await evaluate(
      { environment: { ...base, prompt }, model, adapter },
      { reporter: quietReporter },
    ).catch((caught: unknown) => caught)) as GrpoError;
    assert.is(error.code, 'INVALID_ADAPTER');
    assert.match(error.message, /adapter folder nowhere cannot be read|adapter_config\.json/);
  }
});

test('an aborted evaluation throws ABORTED', async () => {
  const controller = new AbortController();
  const policy = new FakePolicy({
    script: () => {
      controller.abort();
      return 'no';
    },
  });
  const error = (await evaluate(
    { environment: wordEnvironment() },
    { policy, reporter: quietReporter, signal: controller.signal },
  ).catch((caught: unknown) => caught)) as { code?: string };
  assert.is(error.code, 'ABORTED');
  assert.is(policy.alive, 0);
});

test('generate shows one task turn by turn, and names the nearest of an unknown one', async () => {
  const policy = new FakePolicy({
    script: (context) => (context.includes('heard') ? '<submit>w3</submit>' : '<echo>a</echo>'),
  });
  const shown: string[] = [];
  const episode = await generate(
    { environment: wordEnvironment(), task: 't3' },
    {
      policy,
      onPrompt: (messages) => shown.push(...messages.map((message) => message.content)),
      onTurn: (turn, next) => shown.push(turn.text, ...next.map((message) => message.content)),
    },
  );
  assert.equal(shown, ['say w3', '<echo>a</echo>', 'heard a', '<submit>w3</submit>']);
  assert.is(episode.reward!.value, 1);
  const error = (await generate({ environment: wordEnvironment(), task: 't33' }, { policy }).catch(
    (caught: unknown) => caught,
  )) as Error;
  assert.match(error.message, /there is no task t33; did you mean t3\?/);
});

test.run();
