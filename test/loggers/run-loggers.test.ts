import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EventFile, lastLoggedStep, scalarValue } from '../../lib/loggers/event-file.js';
import { logRun, RunLoggers } from '../../lib/loggers/index.js';
import type { LoggersRequest } from '../../lib/loggers/index.js';

let folder = '';
let warnings: string[] = [];
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-loggers-'));
  warnings = [];
  writeFileSync(join(folder, 'config.json'), '{"config":{"steps":4}}');
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const request = (names: LoggersRequest['names']): LoggersRequest => ({
  names,
  folder,
  env: {},
  message: () => undefined,
  warning: (text) => void warnings.push(text),
});
const records = (name: string, ...lines: object[]) =>
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
const scalars = () =>
  readFileSync(join(folder, 'scalars.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, number>)
    .map(({ time: _time, ...line }) => line);

test('a step and its evaluations become one row, as soon as the step is over', async () => {
  const loggers = await RunLoggers.open(request(['jsonl']));
  loggers.step({ step: 1, loss: 0.5 });
  await loggers.commit(1);
  assert.equal(scalars(), [{ step: 1, 'train/loss': 0.5 }]);
  loggers.step({ step: 2, loss: 0.25 });
  loggers.evaluation({ step: 2, mode: 'no-tools', pass_rate: 1 });
  await loggers.commit(2);
  await loggers.commit(2);
  await loggers.close('finished');
  assert.equal(scalars()[1], { step: 2, 'train/loss': 0.25, 'eval/no-tools/pass_rate': 1 });
  assert.is(scalars().length, 2);
});

test('a run that goes on repeats no step: its last record waits for an evaluation of the same step', async () => {
  records('metrics.jsonl', { step: 1, loss: 3 }, { step: 2, loss: 2 });
  // What was logged before the records were cut.
  records('scalars.jsonl', { step: 1 }, { step: 2 }, { step: 3 });
  for (const isDue of [true, false]) {
    const loggers = await RunLoggers.open(request(['jsonl']));
    assert.equal(scalars(), [{ step: 1, 'train/loss': 3 }]);
    if (isDue) {
      loggers.evaluation({ step: 2, mode: 'no-tools', pass_rate: 0.5 });
      await loggers.commit(2);
    }
    loggers.step({ step: 3, loss: 1 });
    await loggers.commit(3);
    await loggers.close('finished');
    const evaluation = isDue ? { 'eval/no-tools/pass_rate': 0.5 } : {};
    assert.equal(scalars(), [
      { step: 1, 'train/loss': 3 },
      { step: 2, 'train/loss': 2, ...evaluation },
      { step: 3, 'train/loss': 1 },
    ]);
  }
});

test('a logger that fails is told once and left out, and the others go on', async () => {
  writeFileSync(join(folder, 'tensorboard'), 'no folder');
  const loggers = await RunLoggers.open(request(['tensorboard', 'jsonl']));
  for (const step of [1, 2]) {
    loggers.step({ step, loss: step });
    await loggers.commit(step);
  }
  await loggers.close('finished');
  assert.is(warnings.length, 1);
  assert.match(warnings[0]!, /^logger tensorboard is off from here on: EEXIST/);
  assert.is(scalars().length, 2);
});

test('a finished run is logged from its folder, and a folder that is none is an error', async () => {
  records('metrics.jsonl', { step: 1, loss: 3 });
  records('evaluations.jsonl', { step: 0, mode: 'no-tools', n: 1 }, { step: 1, mode: 'no-tools', n: 2 });
  assert.equal(await logRun(request(['jsonl', 'tensorboard'])), ['jsonl', 'tensorboard']);
  assert.equal(
    scalars().map(({ step }) => step),
    [0, 1],
  );
  assert.is(await lastLoggedStep(join(folder, 'tensorboard')), 1);
  rmSync(join(folder, 'config.json'));
  const error = (await logRun(request(['jsonl'])).catch((caught: unknown) => caught)) as { code?: string };
  assert.is(error.code, 'RUN_INVALID');
});

test('event files sort in the order in which they were made, also within a second, and a record cut short is ignored', async () => {
  const target = join(folder, 'events');

  mkdirSync(target);
  assert.is(await lastLoggedStep(target), undefined);
  const names: string[] = [];
  for (const step of [5, 2]) {
    const file = await EventFile.create(target);
    names.push(...readdirSync(target).filter((name) => !names.includes(name)));
    await file.write(step, 100, [scalarValue('x', step)]);
    await file.close();
  }
  assert.equal(readdirSync(target).sort(), names);
  assert.is(await lastLoggedStep(target), 5);
  const first = join(target, names[0]!);
  writeFileSync(first, readFileSync(first).subarray(0, -3));
  assert.is(await lastLoggedStep(target), 2);
});

test('a record begins with its length and the checksum that TFRecord gives it', async () => {
  const file = await EventFile.create(folder);
  await file.close();
  const bytes = readFileSync(
    join(
      folder,
      readdirSync(folder).find((name) => name.startsWith('events'))!,
    ),
  );
  // 24 bytes: wall time (9), file version (2 + 13). The checksum is TensorFlow's own for this length.
  assert.is(bytes.readBigUInt64LE(0), 24n);
  assert.is(bytes.readUInt32LE(8), 0x224b7fa3);
});

test.run();
