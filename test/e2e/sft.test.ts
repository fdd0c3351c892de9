import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluateLoss, Policy, sft, Tokenizer } from '../../lib/index.js';
import type { SftInput, SftMetrics } from '../../lib/index.js';
import { quietReporter } from '../../lib/run/index.js';
import { timelessLines } from './run-training.js';
import { TINY_LORA, writeTinyModel } from './tiny-model.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-sft-'));
const model = join(folder, 'model');
const data = join(folder, 'data.jsonl');
test.after(() => rmSync(folder, { recursive: true, force: true }));

const WORDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const conversation = (word: string) => ({
  messages: [
    { role: 'system', content: 'Repeat.' },
    { role: 'user', content: word },
    { role: 'assistant', content: `the word is ${word}` },
  ],
});

test.before(async () => {
  await writeTinyModel(model);
  writeFileSync(data, WORDS.map((word) => JSON.stringify(conversation(word))).join('\n'));
});

const settings = (output: string, more: SftInput = {}): SftInput => ({
  model,
  data,
  output: join(folder, output),
  epochs: 4,
  batchRows: 4,
  lora: TINY_LORA,
  optimizer: { learningRate: 1e-2 },
  evalEvery: 4,
  ...more,
});
const quiet = { reporter: quietReporter };

async function codeOf(work: Promise<unknown>): Promise<[string | undefined, string]> {
  return work.then(
    () => [undefined, ''] as [undefined, string],
    (error: Error & { code?: string }) => [error.code, error.message],
  );
}

test('several epochs bring the loss down, on the held-out row too, and write a run', async () => {
  const { run, steps, metrics, evaluations } = await sft(settings('plain'), quiet);
  assert.is(steps, 11, '4 epochs of 11 rows, 4 at a time');
  const first = JSON.parse(timelessLines(run, 'metrics.jsonl')[0]!) as SftMetrics;
  assert.ok(metrics!.loss! < first.loss! - 0.5, `${first.loss} -> ${metrics!.loss}`);
  assert.is(metrics!.epoch, 4);
  assert.equal(
    evaluations.map(({ step, split, rows }) => [step, split, rows]),
    [0, 4, 8, 11].map((step) => [step, 'held-out', 1]),
  );
  assert.ok(evaluations.at(-1)!.loss < evaluations[0]!.loss - 0.5);
  assert.ok(existsSync(join(run, 'adapter', 'adapter_config.json')));
  assert.ok(existsSync(join(run, 'best', 'adapter_config.json')));
});

test('the loss of a step is the mean negative log-likelihood of what assistants wrote, and its gradient that of it', async () => {
  const { metrics, run } = await sft(settings('one', { epochs: 1, batchRows: 16, validation: data }), quiet);
  const tokenizer = await Tokenizer.load(model);
  const policy = await Policy.load(model);
  const rows = WORDS.map((word) => tokenizer.encodeConversation(conversation(word).messages as never));
  const logprobs = await policy.logprobs(rows.map(({ ids }) => ids));
  await policy.close();
  const masks = rows.map(({ mask }) => Array.from(mask).slice(1));
  const learned = logprobs.flatMap((row, b) => Array.from(row).filter((_, t) => masks[b]![t] === 1));
  const expected = -learned.reduce((sum, value) => sum + value, 0) / learned.length;
  assert.is(metrics!.tokens_trained, learned.length);
  assert.ok(Math.abs(metrics!.loss! - expected) < 1e-5, `${metrics!.loss} and ${expected}`);
  assert.ok(
    Math.abs((JSON.parse(timelessLines(run, 'evaluations.jsonl')[0]!) as { loss: number }).loss - expected) < 1e-5,
  );
  const { gradient } = evaluateLoss(
    { logprobs, oldLogprobs: logprobs, mask: masks, advantages: WORDS.map(() => 1) },
    { policy: 'clip', aggregation: 'token-mean' },
  );
  gradient.forEach((row, b) =>
    row.forEach((value, t) => assert.ok(Math.abs(value - (masks[b]![t] === 1 ? -1 / learned.length : 0)) < 1e-12)),
  );
});

test('a stopped run that goes on ends in the same bytes', async () => {
  await sft(settings('whole', { strict: true }), quiet);
  const stop = new AbortController();
  const step = (line: { step: number }) => (line.step === 3 ? stop.abort() : undefined);
  const output = join(folder, 'halves');
  const half = await sft(settings('halves', { strict: true }), {
    reporter: { ...quietReporter, step },
    stop: stop.signal,
  });
  assert.ok(half.interrupted);
  assert.is(half.steps, 3);
  const { steps } = await sft({ resume: output }, quiet);
  assert.is(steps, 11);
  const weights = (name: string) => readFileSync(join(folder, name, 'adapter', 'adapter_model.safetensors'));
  assert.ok(weights('halves').equals(weights('whole')));
  for (const log of ['metrics.jsonl', 'evaluations.jsonl']) {
    assert.equal(timelessLines(output, log), timelessLines(join(folder, 'whole'), log));
  }
  const [code, text] = await codeOf(sft({ resume: output, batchRows: 2 }, quiet));
  assert.is(code, 'INVALID_CONFIG');
  assert.match(text, /batchRows is 2, in the run 4/);
});

test("a run's trajectories are learned by reward; invalid ones and those without a sampled token are left out aloud", async () => {
  const path = join(folder, 'trajectories.jsonl');
  const line = (extra: object) => JSON.stringify({ step: 1, ids: [5, 6, 7, 8], mask: [0, 0, 1, 1], ...extra });
  writeFileSync(
    path,
    [
      line({ reward: { value: 1 }, invalid: null }),
      line({ reward: { value: 0.2 }, invalid: null }),
      line({ reward: null, invalid: 'sandbox' }),
      line({ reward: { value: 1 }, mask: [1, 0, 0, 0] }),
    ].join('\n'),
  );
  const warnings: string[] = [];
  const reporter = { ...quietReporter, warning: (text: string) => void warnings.push(text) };
  const { metrics } = await sft(settings('paths', { data: path, minReward: 0.5, epochs: 1 }), { reporter });
  assert.is(metrics!.rows, 1);
  assert.is(metrics!.tokens_trained, 2);
  assert.equal(warnings.map((text) => text.slice(text.indexOf(': ') + 2)).sort(), [
    '1 rows left out: invalid episode',
    '1 rows left out: nothing that an assistant wrote',
    '1 rows left out: reward below 0.5',
  ]);
});

test('faults name the line', async () => {
  const path = join(folder, 'bad.jsonl');
  for (const [text, pattern] of [
    ['{"messages":[]}', /bad\.jsonl:1: it must hold messages/],
    ['{"ids":[1,2],"mask":[1]}', /mask has 1 entries for 2 ids/],
    ['{"ids":[1,2],"mask":[0,2]}', /mask must be a list of 0 and 1/],
    ['\n{', /bad\.jsonl:2: it is not JSON/],
    ['', /has no row to learn from: it is empty/],
  ] as const) {
    writeFileSync(path, text);
    const [code, message] = await codeOf(sft(settings('bad', { data: path }), quiet));
    assert.is(code, 'INVALID_TASKS', text);
    assert.match(message, pattern);
  }
  assert.is((await codeOf(sft({ model }, quiet)))[0], 'INVALID_CONFIG');
  assert.is((await codeOf(sft(settings('bad', { data: join(folder, 'none.jsonl') }), quiet)))[0], 'IO_FAILED');
});

test.run();
