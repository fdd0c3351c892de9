import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chooseFiles } from '../../lib/data/dataset-files.js';
import { isHubDataset, licenceLine } from '../../lib/data/hub-dataset.js';
import { loadTasks } from '../../lib/data/index.js';
import type { GrpoError } from '../../lib/errors.js';
import { startDatasetHub, type HubDataset } from './dataset-hub.js';

const cache = mkdtempSync(join(tmpdir(), 'grpo-datasets-'));
const saved = { ...process.env };
test.before.each(() => {
  process.env.HF_HUB_CACHE = mkdtempSync(join(cache, 'hub-'));
  process.env.HF_TOKEN = '';
  process.env.HF_TOKEN_PATH = join(cache, 'none');
  delete process.env.HF_HUB_OFFLINE;
});
let closing: (() => Promise<void>)[] = [];
const openHub = async (served: HubDataset) => {
  const hub = await startDatasetHub(served);
  closing.push(hub.close);
  return hub;
};
test.after.each(async () => {
  for (const close of closing) await close();
  closing = [];
});
test.after(() => {
  process.env = saved;
  rmSync(cache, { recursive: true, force: true });
});

const parquet = (name: string, count: number) =>
  Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'id', data: Array.from({ length: count }, (_, index) => `${name}${index}`) },
        { name: 'prompt', data: Array.from({ length: count }, () => 'Write f.') },
        { name: 'test', data: Array.from({ length: count }, () => 'assert f(1) == 1') },
      ],
    }),
  );
const commit = 'c'.repeat(40);
const dataset = (extra: Partial<HubDataset> = {}): HubDataset => ({
  id: 'made/tasks',
  commit,
  files: {
    'README.md': Buffer.from('# made'),
    'data/train-00000-of-00002.parquet': parquet('a', 3),
    'data/train-00001-of-00002.parquet': parquet('b', 2),
    'data/test-00000-of-00001.parquet': parquet('t', 1),
  },
  licence: 'cc-by-nc-4.0',
  ...extra,
});
const failure = (call: Promise<unknown>): Promise<GrpoError> =>
  call.then(
    () => assert.unreachable('an error was expected') as never,
    (error: unknown) => error as GrpoError,
  );

test('a data set is fetched once, with its licence said, and read from the cache when offline', async () => {
  const hub = await openHub(dataset());
  const said: string[] = [];
  const options = { hubUrl: hub.url, notice: (line: string) => said.push(line) };
  const ids = async (source: string) => (await loadTasks(source, options)).map(({ id }) => id);
  assert.equal(await ids('made/tasks'), ['a0', 'a1', 'a2', 'b0', 'b1']);
  assert.match(
    said[0]!,
    /^data set made\/tasks at ccccccc \(0\.0 MB, licence: cc-by-nc-4\.0 \(not for commercial use\)\)$/,
  );
  assert.equal(await ids('hub:made/tasks@main:test'), ['t0']);
  const fetched = hub.requests.filter((path) => path.includes('/resolve/')).length;
  assert.is(fetched, 3, 'each file once, nothing but the wanted split');
  assert.equal(await ids('made/tasks'), ['a0', 'a1', 'a2', 'b0', 'b1']);
  assert.is(hub.requests.filter((path) => path.includes('/resolve/')).length, fetched);
  await hub.close();
  process.env.HF_HUB_OFFLINE = '1';
  assert.equal(await ids('hub:made/tasks:test'), ['t0']);
  assert.match((await failure(ids('made/others'))).message, /is not in .* and HF_HUB_OFFLINE is set/);
  delete process.env.HF_HUB_OFFLINE;
  assert.equal(await ids('made/tasks'), ['a0', 'a1', 'a2', 'b0', 'b1'], 'without a connection the cache serves');
  assert.match(said.at(-1)!, /cannot be reached[^]*going on with the files of an earlier download/);
  const link = join(
    process.env.HF_HUB_CACHE!,
    'datasets--made--tasks/snapshots',
    commit,
    'data/test-00000-of-00001.parquet',
  );
  assert.ok(lstatSync(link).isSymbolicLink(), "the layout is Hugging Face's own");
});

test('a gated data set says that a token is needed, and takes the one of the environment', async () => {
  const hub = await openHub(dataset({ token: 'secret' }));
  const load = () => loadTasks('made/tasks', { hubUrl: hub.url, notice: () => undefined });
  const error = await failure(load());
  assert.is(error.code, 'DOWNLOAD_FAILED');
  assert.match(error.message, /set HF_TOKEN/);
  process.env.HF_TOKEN = 'secret';
  assert.is((await load()).length, 5);
});

test('the split is the one named, the only one, train, or the newest version', () => {
  const versions = ['data/v0.1.2-00000-of-00001.parquet', 'data/v0.1.10-00000-of-00001.parquet', 'README.md'];
  assert.equal(chooseFiles(versions, undefined), [versions[1]!]);
  assert.equal(chooseFiles(versions, 'v0.1.2'), [versions[0]!]);
  assert.equal(chooseFiles(['HumanEval.jsonl'], undefined), ['HumanEval.jsonl']);
  const several = ['full/test-00000-of-00001.parquet', 'sanitized/test-00000-of-00001.parquet'];
  assert.equal(chooseFiles(several, 'sanitized/test'), [several[1]!]);
  assert.throws(
    () => chooseFiles(several, 'test', 'x/y'),
    /has the split test several times.*full\/test, sanitized\/test/,
  );
  assert.throws(() => chooseFiles(several, undefined, 'x/y'), /x\/y has several splits: name one with x\/y:SPLIT/);
  assert.throws(() => chooseFiles(['README.md'], undefined, 'x/y'), /x\/y has neither Parquet nor JSONL files/);
});

test('what names a data set, and what names a file', () => {
  for (const source of ['KodCode/KodCode-V1', 'hub:a/b', 'a/b@v1.0:test', 'hub:a/b.jsonl'])
    assert.ok(isHubDataset(source), source);
  for (const source of ['tasks.jsonl', 'examples/tasks.jsonl', './a/b', '/a/b', 'a/b/c', 'a/b@..']) {
    assert.not.ok(isHubDataset(source), source);
  }
});

test('a licence that forbids commercial use is said so', () => {
  assert.is(licenceLine('a/b', 'apache-2.0'), 'licence: apache-2.0');
  assert.is(licenceLine('a/b', ['cc-by-nc-4.0']), 'licence: cc-by-nc-4.0 (not for commercial use)');
  assert.is(licenceLine('KodCode/KodCode-V1', undefined), 'licence: not stated (not for commercial use)');
});

test.run();
