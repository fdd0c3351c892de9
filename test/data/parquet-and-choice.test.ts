import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadTasks, parseTasks } from '../../lib/data/index.js';
import type { GrpoError } from '../../lib/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-tasks-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const fails = async (call: Promise<unknown>): Promise<GrpoError> => {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught as GrpoError,
  );
  assert.ok(error, 'an error was expected');
  return error;
};

/** Six records of KodCode's shape, as its data set stores them. */
const records = Array.from({ length: 6 }, (_, index) => ({
  question_id: `Made_${index}_I`,
  question: `Write f${index}(x) that adds ${index}.`,
  solution: `def f${index}(x):\n    return x + ${index}\n`,
  test: `from solution import f${index}\n\ndef test_f():\n    assert f${index}(1) == ${index + 1}\n`,
  test_info: [
    {
      docstring: '',
      function_declaration: `def f${index}(x):`,
      function_name: `f${index}`,
      parameter_list: '(x)',
    },
  ],
  gpt_pass_percentage: index / 5,
}));

function parquetFile(name: string, rows: Record<string, unknown>[]): string {
  const path = join(folder, name);
  const columnData = Object.keys(rows[0]!).map((key) => ({ name: key, data: rows.map((row) => row[key] ?? null) }));
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 2 })));
  return path;
}

test('a Parquet file gives the same tasks as the JSONL file of the same records', async () => {
  const jsonl = join(folder, 'kod.jsonl');
  writeFileSync(jsonl, records.map((record) => JSON.stringify(record)).join('\n'));
  const tasks = await loadTasks(parquetFile('kod.parquet', records));
  assert.equal(tasks, await loadTasks(jsonl));
  assert.is(tasks.length, 6);
  assert.equal(
    [tasks[2]!.id, tasks[2]!.style, tasks[2]!.entryPoint, tasks[2]!.difficulty],
    ['Made_2_I', 'pytest', 'f2', 'medium'],
  );
  assert.match(tasks[2]!.prompt, /`def f2\(x\):`/);
});

test('64-bit ids, lists and empty columns of MBPP are read from Parquet', async () => {
  const file = parquetFile('mbpp.parquet', [
    {
      task_id: 11n,
      text: 'Double.',
      code: 'def d(x):\n    return 2 * x',
      test_list: ['assert d(1) == 2'],
      test_setup_code: null,
    },
    {
      task_id: 12n,
      text: 'Half.',
      code: 'def h(x):\n    return x / 2',
      test_list: ['assert h(2) == 1'],
      test_setup_code: '',
    },
  ]);
  const tasks = await loadTasks(file);
  assert.equal(
    tasks.map(({ id, test: source }) => [id, source]),
    [
      ['MBPP/11', 'assert d(1) == 2\n'],
      ['MBPP/12', 'assert h(2) == 1\n'],
    ],
  );
});

test('a wrong record names file and row, a wrong line file and line', async () => {
  const broken = records.map((record, index) => ({ ...record, solution: index === 3 ? '' : record.solution }));
  const row = await fails(loadTasks(parquetFile('broken.parquet', broken)));
  assert.is(row.code, 'INVALID_TASKS');
  assert.match(row.message, /broken\.parquet, row 4: KodCode record: solution: /);
  const jsonl = join(folder, 'broken.jsonl');
  writeFileSync(jsonl, Buffer.concat([Buffer.from('{"prompt": "a", "test": "b"}\n{"prompt": "'), Buffer.from([0xff])]));
  assert.match((await fails(loadTasks(jsonl))).message, /broken\.jsonl:2: not UTF-8 text/);
  const text = join(folder, 'no.parquet');
  writeFileSync(text, 'this is text');
  assert.match((await fails(loadTasks(text))).message, /no\.parquet can't be read as Parquet/);
  assert.match((await fails(loadTasks(join(folder, 'absent.jsonl')))).message, /can't read .*absent\.jsonl: ENOENT/);
});

test('an id that stands there twice names both rows', async () => {
  const twice = [records[0]!, records[1]!, records[0]!];
  assert.match(
    (await fails(loadTasks(parquetFile('twice.parquet', twice)))).message,
    /twice\.parquet, row 3: the id 'Made_0_I' stands in .*twice\.parquet, row 1 already/,
  );
});

test('difficulty comes from the record, else from the share of passes', () => {
  const of = (extra: object) =>
    parseTasks(JSON.stringify({ question: 'q', solution: 's', test: 't', ...extra }), 'x')[0]!.difficulty;
  assert.equal(
    [{ gpt_pass_percentage: 0.3 }, { gpt_pass_percentage: 1 / 3 }, { gpt_pass_percentage: 2 / 3 }, {}].map(of),
    ['hard', 'medium', 'easy', undefined],
  );
  assert.is(of({ gpt_difficulty: 'Hard', gpt_pass_percentage: 1 }), 'hard');
});

test('tasks are filtered, then shuffled by the seed, then taken', async () => {
  const file = parquetFile('choice.parquet', records);
  const ids = async (options: Parameters<typeof loadTasks>[1]) =>
    (await loadTasks(file, options)).map(({ id }) => Number(/\d/.exec(id)![0]));
  assert.equal(await ids({ difficulty: ['hard'] }), [0, 1]);
  assert.equal(await ids({ difficulty: ['easy', 'medium'] }), [2, 3, 4, 5]);
  assert.equal(await ids({ passPercentage: [0.4, 0.8] }), [2, 3, 4]);
  assert.equal(await ids({ take: 2 }), [0, 1]);
  const shuffledIds = await ids({ shuffleSeed: 1 });
  assert.equal([...shuffledIds].sort(), [0, 1, 2, 3, 4, 5]);
  assert.equal(await ids({ shuffleSeed: 1 }), shuffledIds);
  assert.equal(await ids({ shuffleSeed: 1, take: 3 }), shuffledIds.slice(0, 3));
  assert.not.equal(await ids({ shuffleSeed: 2 }), shuffledIds);
  const none = await fails(loadTasks(file, { difficulty: ['hard'], passPercentage: [0.9, 1] }));
  assert.match(none.message, /none of 6 tasks passes the filter; difficulties in it: hard, medium, easy/);
  assert.ok(readFileSync(file).length > 0);
});

test.run();
