import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createRunFolder,
  defaultRunFolder,
  JsonLines,
  readRun,
  replaceFolder,
  TrajectoryLog,
} from '../../lib/run/index.js';

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-run-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

test('NaN and Infinity are written as null, and lines are only added', async () => {
  const lines = new JsonLines(join(folder, 'a.jsonl'));
  await lines.append({ a: NaN, b: [1, Infinity] }, { c: 2 });
  await lines.append({ d: 3 });
  assert.is(readFileSync(lines.path, 'utf8'), '{"a":null,"b":[1,null]}\n{"c":2}\n{"d":3}\n');
});

test('a log that cannot be written is IO_FAILED', async () => {
  const error = (await new JsonLines(join(folder, 'no', 'a.jsonl')).append({}).catch((caught: unknown) => caught)) as {
    code?: string;
  };
  assert.is(error.code, 'IO_FAILED');
});

test('trajectories move into compressed parts when they have grown, and no line is lost', async () => {
  const log = new TrajectoryLog(folder, 100);
  for (let index = 0; index < 12; index++) await log.append([{ index, text: 'x'.repeat(30) }]);
  const parts = readdirSync(folder)
    .filter((name) => name.endsWith('.gz'))
    .sort();
  assert.ok(parts.length >= 3, parts.join());
  assert.is(parts[0], 'trajectories-0001.jsonl.gz');
  const rest = join(folder, 'trajectories.jsonl');
  const text = [
    ...parts.map((name) => gunzipSync(readFileSync(join(folder, name))).toString()),
    existsSync(rest) ? readFileSync(rest, 'utf8') : '',
  ].join('');
  const indexes = text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { index: number }).index);
  assert.equal(
    indexes,
    Array.from({ length: 12 }, (_, index) => index),
  );
});

test('a run folder that holds something is refused, an empty one is taken', async () => {
  const path = join(folder, 'deep', 'run');
  assert.is(await createRunFolder(path), path);
  assert.is(await createRunFolder(path), path);
  writeFileSync(join(path, 'metrics.jsonl'), '');
  const error = (await createRunFolder(path).catch((caught: unknown) => caught)) as { code?: string; message: string };
  assert.is(error.code, 'RUN_EXISTS');
  assert.match(error.message, /exists already; choose another --output$/);
  writeFileSync(join(path, 'config.json'), '{}');
  const advised = (await createRunFolder(path).catch((caught: unknown) => caught)) as Error;
  assert.match(advised.message, /choose another --output, or go on with that run by train --resume .*run$/);
});

test('the default folder is the date and the model, numbered where it exists', () => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    const now = new Date('2026-03-04T10:00:00Z');
    assert.is(defaultRunFolder('/models/Some Model/', now), join('runs', '2026-03-04-Some-Model'));
    mkdirSync('runs/2026-03-04-Some-Model', { recursive: true });
    assert.is(defaultRunFolder('/models/Some Model', now), join('runs', '2026-03-04-Some-Model-2'));
  } finally {
    process.chdir(before);
  }
});

test('a folder is replaced only by one that was written whole', async () => {
  const target = join(folder, 'adapter');
  const write = (text: string) => async (path: string) => {
    mkdirSync(path);
    writeFileSync(join(path, 'weights'), text);
    if (text === 'broken') throw new Error('disk full');
  };
  await replaceFolder(target, write('one'));
  await replaceFolder(target, write('two'));
  await replaceFolder(target, write('broken')).catch(() => undefined);
  assert.is(readFileSync(join(target, 'weights'), 'utf8'), 'two');
});

test('reading a folder without a run, or with a broken line, says which', async () => {
  const failure = (path: string) => readRun(path).catch((caught: unknown) => caught) as Promise<Error>;
  assert.match((await failure(folder)).message, /is no run folder/);
  writeFileSync(join(folder, 'config.json'), '{}');
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step":1}\n{"st\n');
  assert.match((await failure(folder)).message, /metrics\.jsonl:2 is not JSON/);
  for (const line of ['null', '3', '{}']) {
    writeFileSync(join(folder, 'metrics.jsonl'), `{"step":1}\n${line}\n`);
    assert.match((await failure(folder)).message, /metrics\.jsonl:2 is no record of a step/);
  }
});

test('a last line that is only half there yet is left for later', async () => {
  writeFileSync(join(folder, 'config.json'), '{}');
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step":1}\n{"st');
  assert.equal((await readRun(folder)).metrics, [{ step: 1 }]);
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step":1}\n{"step":2}');
  assert.is((await readRun(folder)).metrics.length, 2);
});

test.run();
