import { request } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { serveReport } from '../../lib/report/index.js';
import type { ServedReport } from '../../lib/report/index.js';
import type { GroupSummary, GroupView, RunData } from '../../lib/report/types.js';
import { JsonLines } from '../../lib/run/index.js';
import { writeSyntheticRun } from './synthetic-run.js';

const folder = mkdtempSync(join(tmpdir(), 'grpo-served-'));
let served: ServedReport;
test.before(async () => {
  await writeSyntheticRun(folder, {
    steps: 30,
    prompts: 2,
    samples: 2,
    tasks: 5,
    evaluateEvery: 10,
    partBytes: 60_000,
  });
  served = await serveReport(folder);
});
test.after(async () => {
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

const json = async <T>(path: string) => (await (await fetch(`${served.address}${path}`)).json()) as T;
const status = async (path: string, init: RequestInit = {}) => (await fetch(`${served.address}${path}`, init)).status;

test('the address is of this machine alone, and gives the page', async () => {
  assert.match(served.address, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  const text = await (await fetch(served.address)).text();
  assert.match(text, /^<!doctype html>/);
  assert.match(text, /connect-src 'self'/);
});

test('all groups can be paged through, in the order of each filter', async () => {
  const steps: number[] = [];
  for (let from = 0; ; from += 25) {
    const { total, groups } = await json<{ total: number; groups: GroupSummary[] }>(
      `groups?filter=all&from=${from}&count=25`,
    );
    assert.is(total, 60);
    if (groups.length === 0) break;
    steps.push(...groups.map(({ step }) => step));
  }
  assert.equal(
    steps,
    Array.from({ length: 60 }, (_, index) => Math.floor(index / 2) + 1),
  );
  const last = await json<{ groups: GroupSummary[] }>('groups?filter=last&count=2');
  assert.equal(
    last.groups.map(({ step }) => step),
    [30, 30],
  );
  const one = await json<{ total: number; groups: GroupSummary[] }>('groups?filter=all&step=7&count=9');
  assert.equal([one.total, one.groups.map(({ step }) => step)], [2, [7, 7]]);
});

test('a group anywhere in the run is read when asked for, from compressed parts too', async () => {
  for (const step of [1, 15, 30]) {
    const { summary, episodes } = await json<GroupView>(`group?step=${step}&group=1`);
    assert.equal([summary.step, summary.group, episodes.length], [step, 1, 2]);
    assert.ok(episodes.every(({ row }) => row.length > 1));
  }
});

test('the data follow the run while it grows', async () => {
  assert.is((await json<RunData>('data')).run.stepsDone, 30);
  await new JsonLines(join(folder, 'metrics.jsonl')).append({ step: 31, reward_mean: 1, alarms: [] });
  assert.is((await json<RunData>('data')).run.stepsDone, 31);
});

test('what is not there, not known or not asked by this machine is refused', async () => {
  assert.is(await status('other'), 404);
  assert.is(await status('..%2fconfig.json'), 404);
  assert.is(await status('group?step=99&group=0'), 400);
  assert.is(await status('groups?filter=odd'), 400);
  assert.is(await status('data', { method: 'POST' }), 405);
  const { port } = new URL(served.address);
  const rebound = await new Promise<number | undefined>((settle) =>
    request({ host: '127.0.0.1', port, path: '/data', headers: { host: `evil.example:${port}` } }, (response) => {
      response.resume();
      settle(response.statusCode);
    }).end(),
  );
  assert.is(rebound, 403);
});

test('a port that is taken is an error that says so', async () => {
  const { port } = new URL(served.address);
  const error = (await serveReport(folder, { port: Number(port) }).catch((caught: unknown) => caught)) as {
    code: string;
    message: string;
  };
  assert.is(error.code, 'IO_FAILED');
  assert.match(error.message, /it is taken; choose another --port/);
});

test('an end waits until a page that looks on has fetched the last state', async () => {
  const own = await serveReport(folder);
  await fetch(`${own.address}data`);
  let hasClosed = false;
  const closing = own.close().then(() => (hasClosed = true));
  await new Promise((settle) => setTimeout(settle, 50));
  assert.is(hasClosed, false);
  assert.is((await fetch(`${own.address}data`)).status, 200);
  await closing;
  assert.ok(
    await fetch(own.address).then(
      () => false,
      () => true,
    ),
  );
});

test.run();
