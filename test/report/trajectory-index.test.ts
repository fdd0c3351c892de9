import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GrpoError } from '../../lib/errors.js';
import { taskRows } from '../../lib/report/task-rows.js';
import { TrajectoryIndex } from '../../lib/report/trajectory-index.js';
import { TrajectoryLog } from '../../lib/run/index.js';

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-index-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const episode = (step: number, group: number, sample: number, value: number | null, extra: object = {}) => ({
  step,
  task: `t${group}`,
  group,
  sample,
  ids: [1, 2],
  mask: [0, 1],
  logprobs: [-1],
  turns: [{ role: 'user', text: 'ü'.repeat(20 + sample) }],
  reward: value === null ? null : { value, parts: {} },
  advantage: 0,
  finish: 'done',
  invalid: value === null ? 'broken' : null,
  passed: value === null ? null : value > 0.5,
  ...extra,
});
const stepOf = (step: number) =>
  [0, 1].flatMap((group) => [0, 1].map((sample) => episode(step, group, sample, (step + sample) / 10)));
const live = () => join(folder, 'trajectories.jsonl');

test('groups are summed up, invalid episodes counted and in no mean', async () => {
  const log = new TrajectoryLog(folder);
  await log.append([episode(1, 0, 0, 1), episode(1, 0, 1, 0), episode(1, 0, 2, null), episode(1, 1, 0, null)]);
  const index = new TrajectoryIndex(folder);
  await index.scan();
  assert.equal(index.episodes, { total: 4, invalid: 2 });
  const [first, second] = index.summaries();
  assert.equal(first, { step: 1, group: 0, task: 't0', samples: 3, invalid: 1, rewardMean: 0.5, passRate: 0.5 });
  assert.equal([second!.rewardMean, second!.passRate], [null, null]);
});

test('in a run with verdicts an episode without one has not passed; a run without any has no pass rate', async () => {
  const log = new TrajectoryLog(folder);
  const index = new TrajectoryIndex(folder);
  const passRates = async () => {
    await index.scan();
    return index.summaries().map(({ passRate }) => passRate);
  };
  await log.append([episode(1, 0, 0, 0.3, { passed: null }), episode(1, 0, 1, 0.4, { passed: undefined })]);
  assert.equal(await passRates(), [null]);
  await log.append([episode(1, 1, 0, 0.9, { passed: undefined, figures: { pass: 1 } })]);
  assert.equal(await passRates(), [0, 1]);
});

test('it reads on where it stopped, leaves a half written line for later, and reads episodes where they stand', async () => {
  const log = new TrajectoryLog(folder);
  const index = new TrajectoryIndex(folder);
  await index.scan();
  assert.is(index.episodes.total, 0);
  await log.append(stepOf(1));
  appendFileSync(live(), '{"step":2,"ta');
  await index.scan();
  assert.is(index.episodes.total, 4);
  truncateSync(live(), statSync(live()).size - '{"step":2,"ta'.length);
  await log.append(stepOf(2));
  await index.scan();
  assert.is(index.episodes.total, 8);
  const [late, early] = await index.read([
    { step: 2, group: 1 },
    { step: 1, group: 0 },
  ]);
  assert.equal(
    late!.map(({ step, group, sample }) => [step, group, sample]),
    [
      [2, 1, 0],
      [2, 1, 1],
    ],
  );
  assert.equal(
    early!.map(({ reward }) => reward!.value),
    [0.1, 0.2],
  );
});

test('compressed parts belong to the run, also those that appear between two looks', async () => {
  const log = new TrajectoryLog(folder, 900);
  const index = new TrajectoryIndex(folder);
  for (let step = 1; step <= 6; step++) {
    await log.append(stepOf(step));
    if (step % 2 === 1) await index.scan();
  }
  await index.scan();
  assert.ok(readdirSync(folder).filter((name) => name.endsWith('.gz')).length >= 2);
  assert.equal(
    index.summaries().map(({ step, group }) => [step, group]),
    [1, 2, 3, 4, 5, 6].flatMap((step) => [
      [step, 0],
      [step, 1],
    ]),
  );
  const groups = await index.read([1, 2, 3, 4, 5, 6].map((step) => ({ step, group: 1 })));
  assert.equal(
    groups.map((episodes) => episodes.map(({ step, sample }) => [step, sample])),
    [1, 2, 3, 4, 5, 6].map((step) => [
      [step, 0],
      [step, 1],
    ]),
  );
});

test('a log that was cut to a checkpoint is read anew', async () => {
  const log = new TrajectoryLog(folder);
  const index = new TrajectoryIndex(folder);
  await log.append(stepOf(1));
  const mark = statSync(live()).size;
  await log.append(stepOf(2));
  await index.scan();
  assert.is(index.episodes.total, 8);
  truncateSync(live(), mark);
  await log.append([
    episode(2, 0, 0, 0.9),
    episode(2, 0, 1, 0.9, { task: 'other, and a good deal longer than what was there before' }),
  ]);
  await index.scan();
  assert.equal(
    index.summaries().map(({ step, group, samples }) => [step, group, samples]),
    [
      [1, 0, 2],
      [1, 1, 2],
      [2, 0, 2],
    ],
  );
});

test('a line that is no JSON, or no episode, is named by its place', async () => {
  const failure = async (line: string) => {
    writeFileSync(live(), `{"ids":[],"mask":[],"logprobs":[],"turns":[]}\n${line}\n`);
    return (await new TrajectoryIndex(folder).scan().catch((caught: unknown) => caught)) as GrpoError;
  };
  const error = await failure('not json');
  assert.is(error.code, 'RUN_INVALID');
  assert.match(error.message, /byte 46 of part 1 is not JSON/);
  for (const line of ['null', '{}', '{"ids":[],"mask":[],"logprobs":[]}']) {
    assert.match((await failure(line)).message, /byte 46 of part 1 is no episode/);
  }
});

test('early and late of a task are the halves of its groups; a task that came once has neither', async () => {
  const log = new TrajectoryLog(folder);
  await log.append([
    episode(1, 0, 0, 0),
    episode(2, 0, 0, 0.2),
    episode(3, 0, 0, 0.8),
    episode(4, 0, 0, 1),
    episode(4, 1, 0, 1),
  ]);
  const index = new TrajectoryIndex(folder);
  await index.scan();
  const [often, once] = taskRows(index.groups, index.isJudged);
  assert.equal([often!.passRate, often!.passEarly, often!.passLate, often!.episodes], [0.5, 0, 1, 4]);
  assert.equal([often!.rewardEarly, often!.rewardLate, often!.rewardMean], [0.1, 0.9, 0.5]);
  assert.equal([once!.passEarly, once!.passLate, once!.rewardEarly, once!.rewardMean], [null, null, null, 1]);
});

test.run();
