import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluationChart } from '../../lib/report/charts/run-charts.js';
import { writeReport } from '../../lib/report/index.js';
import { embeddedJson } from '../../lib/report/page.js';
import { pictureSvg } from '../../lib/report/picture.js';
import type { EmbeddedRun } from '../../lib/report/types.js';
import { writeLongRun } from './long-run.js';
import { writeSyntheticRun } from './synthetic-run.js';

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-report-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const page = () => readFileSync(join(folder, 'report.html'), 'utf8');
const embedded = (): EmbeddedRun => {
  const text = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page())?.[1];
  return JSON.parse(text ?? 'null') as EmbeddedRun;
};
const pngSize = (path: string) => {
  const bytes = readFileSync(path);
  assert.equal([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};

/** Writes the report in a process whose heap is smaller than the run. */
function writeInLittleMemory(run: string): { episodes: { total: number; embedded: number }; grownKilobytes: number } {
  const program = join(import.meta.dirname, 'write-in-little-memory.ts');
  const flags = ['--max-old-space-size=180', '--import', 'tsx'];
  const child = spawnSync(process.execPath, [...flags, program, run], { encoding: 'utf8' });
  assert.is(child.status, 0, child.stderr);
  return JSON.parse(child.stdout) as ReturnType<typeof writeInLittleMemory>;
}

test('a small run is embedded whole: table, curves, tasks, every episode with its tokens', async () => {
  await writeSyntheticRun(folder, { steps: 4, prompts: 2, samples: 3, tasks: 4, evaluateEvery: 2 });
  const { episodes, html, png } = await writeReport(folder);
  assert.equal(episodes, { total: 24, embedded: 24 });
  assert.equal([html, png], [join(folder, 'report.html'), join(folder, 'report.png')]);
  const { data, groups, choices } = embedded();
  assert.is(data.result.lines.filter((line) => line.evaluated).length, 4);
  assert.equal(data.metrics.steps, [1, 2, 3, 4]);
  assert.ok(data.metrics.values['part: passed']!.every((value) => typeof value === 'number'));
  assert.is(
    data.tasks.reduce((sum, row) => sum + row.episodes, 0),
    24,
  );
  assert.is(groups.length, 8);
  assert.is(choices.all.length, 8);
  const [episode] = groups[0]!.episodes;
  const sampled = episode!.row.filter((segment) => segment.sampled);
  assert.is(
    sampled.reduce((sum, { tokens }) => sum + tokens, 0),
    episode!.sampled,
  );
  assert.ok(
    sampled.every(
      ({ pieces, logprobs }) => pieces!.length === logprobs!.length && logprobs!.every((value) => value! <= 0),
    ),
  );
  const line = JSON.parse(readFileSync(join(folder, 'trajectories.jsonl'), 'utf8').split('\n')[0]!) as {
    step: number;
    group: number;
    sample: number;
    turns: { role: string; text: string }[];
  };
  const same = groups.find(({ summary }) => summary.step === line.step && summary.group === line.group)!.episodes[
    line.sample
  ]!;
  const written = same.row.filter((segment) => segment.sampled).map(({ pieces }) => pieces!.join(''));
  assert.equal(
    written,
    line.turns.filter(({ role }) => role === 'assistant').map(({ text }) => text),
  );
});

test('text of a model can neither end the script nor become markup', async () => {
  const hostile = '</script><img src=x onerror="document.title=1"><!-- <script> \u2028 &lt;';
  await writeSyntheticRun(folder, { steps: 2, prompts: 1, samples: 2, tasks: 2, evaluateEvery: 0, hostile });
  await writeReport(folder);
  const text = page();
  assert.is(text.includes('<img src=x'), false);
  assert.is(text.includes('<!-- <script'), false);
  // Data, import map, library, start: as many ends as beginnings.
  assert.is(text.match(/<\/script/g)!.length, 4);
  assert.is(text.match(/<script/g)!.length, 4);
  const { groups, data } = embedded();
  assert.ok(groups[0]!.summary.task.endsWith(hostile));
  assert.ok(data.tasks[0]!.task.includes('</script>'));
  assert.equal(JSON.parse(embeddedJson({ hostile })), { hostile });
});

test('the picture holds the three panels in a fixed size, and escapes the name of the run', async () => {
  await writeSyntheticRun(folder, { steps: 3, prompts: 1, samples: 4, tasks: 2, evaluateEvery: 1 });
  const { png } = await writeReport(folder);
  assert.equal(pngSize(png), [2784, 915]);
  const { data } = embedded();
  const svg = await pictureSvg({ ...data, run: { ...data.run, name: '<a>&b' } });
  for (const text of [
    'pass@1 before and after',
    'Training',
    'Tool selection',
    'best over no tools: ',
    '&#60;a&#62;&#38;b',
  ]) {
    assert.ok(svg.includes(text), text);
  }
});

test('a run without a step, without evaluations, without verdicts says what is missing', async () => {
  await writeSyntheticRun(folder, { steps: 0, evaluateEvery: 0 });
  assert.equal((await writeReport(folder)).episodes, { total: 0, embedded: 0 });
  assert.equal(embedded().data.notes, [
    'No step is logged yet.',
    'No evaluation is logged, so there is no before and after.',
  ]);
  const svg = await pictureSvg(embedded().data);
  for (const text of ['no evaluation', 'no step yet', 'no tools']) assert.ok(svg.includes(text), text);

  rmSync(join(folder, 'config.json'));
  await writeSyntheticRun(folder, { steps: 1, withoutVerdict: true, evaluateEvery: 1, modes: ['multi-tool'] });
  await writeReport(folder);
  const { data } = embedded();
  assert.ok(data.notes.some((note) => note.startsWith('The environment has no verdict')));
  assert.ok(data.notes.some((note) => note.startsWith('One step is logged')));
  assert.ok((await pictureSvg(data)).includes('Mean reward before and after'));
});

test('without the tokenizer episodes are shown as text, and the page says why', async () => {
  await writeSyntheticRun(folder, { steps: 1, prompts: 1, samples: 2, tasks: 1, evaluateEvery: 0 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ config: { model: 'gone' }, workingFolder: folder }));
  await writeReport(folder);
  const { data, groups } = embedded();
  assert.ok(data.notes.some((note) => /without single tokens: the tokenizer of gone cannot be loaded/.test(note)));
  const [episode] = groups[0]!.episodes;
  assert.equal(episode!.row, []);
  assert.ok(episode!.turns.every((turn) => typeof turn.text === 'string'));
});

test('a run of sft has its losses on the page', async () => {
  const metric = { step: 1, epoch: 0, seconds: 1, loss: 2.5, tokens_trained: 9, rows: 2, skipped: null };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ config: { model: 'm' } }));
  writeFileSync(
    join(folder, 'metrics.jsonl'),
    `${JSON.stringify(metric)}\n${JSON.stringify({ ...metric, step: 2, loss: 2 })}\n`,
  );
  writeFileSync(
    join(folder, 'evaluations.jsonl'),
    `${JSON.stringify({ step: 2, split: 'held-out', loss: 2.25, perplexity: 9.5 })}\n`,
  );
  await writeReport(folder);
  const { data } = embedded();
  assert.equal(data.metrics.values['loss'], [2.5, 2]);
  assert.equal(evaluationChart(data).curves[0]!.points, [[2, 2.25]]);
  assert.equal(data.notes, ['A run of sft: it has losses, and no episodes.']);
});

test('a folder without a run is refused', async () => {
  const error = (await writeReport(folder).catch((caught: unknown) => caught)) as { code: string };
  assert.is(error.code, 'RUN_INVALID');
});

test('however long the run, the page stays under 10 MB and says what it left out, and memory does not grow with it', async () => {
  const bytes = await writeLongRun(folder, { steps: 200, groups: 1 });
  assert.ok(bytes > 250e6);
  const { episodes, grownKilobytes } = writeInLittleMemory(folder);
  assert.is(episodes.total, 1600);
  assert.ok(episodes.embedded >= 64 && episodes.embedded < 1600, `${episodes.embedded} embedded`);
  const short = mkdtempSync(join(tmpdir(), 'grpo-short-'));
  await writeLongRun(short, { steps: 10, groups: 1 });
  const more = 1024 * (grownKilobytes - writeInLittleMemory(short).grownKilobytes);
  rmSync(short, { recursive: true });
  assert.ok(more < bytes / 4, `${more} bytes more memory for ${bytes} bytes of episodes`);
  assert.ok(statSync(join(folder, 'report.html')).size < 10e6);
  const { data, groups, choices } = embedded();
  assert.is(data.metrics.steps.at(-1), 2000);
  assert.is(
    groups.reduce((sum, group) => sum + group.episodes.length, 0),
    episodes.embedded,
  );
  assert.ok(choices.best.length > 0 && choices.worst.length > 0 && choices.changed.length > 0);
});

test('curves of very many steps are thinned, and the page says so', async () => {
  const lines = Array.from(
    { length: 7000 },
    (_, index) => `${JSON.stringify({ step: index + 1, reward_mean: 1, alarms: [] })}\n`,
  );
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ config: {} }));
  writeFileSync(join(folder, 'metrics.jsonl'), lines.join(''));
  await writeReport(folder);
  const { data } = embedded();
  assert.is(data.metrics.steps.length, 2334);
  assert.ok(data.notes.includes('The run is long: each point of a curve is the mean of 3 steps.'));
});

test('a run whose log was moved whole is drawn from where it lies', async () => {
  await writeSyntheticRun(folder, { steps: 2, prompts: 1, samples: 2, tasks: 1, evaluateEvery: 0, partBytes: 100 });
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true });
  try {
    assert.equal((await writeReport(copy)).episodes, { total: 4, embedded: 4 });
  } finally {
    rmSync(copy, { recursive: true });
  }
});

test.run();
