import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'puppeteer-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compareRuns, serveReport, writeReport } from '../../lib/report/index.js';
import { JsonLines } from '../../lib/run/index.js';
import { closeBrowser, openPage } from '../report/browser.js';
import { writeSyntheticRun } from '../report/synthetic-run.js';

const HOSTILE = '</script><img src=x onerror="document.title=\'broken out\'">';
const folder = mkdtempSync(join(tmpdir(), 'grpo-page-'));
const at = (name: string) => join(folder, name);
const address = (name: string) => pathToFileURL(join(at(name), 'report.html')).href;

test.before(async () => {
  for (const name of ['run', 'hostile', 'empty', 'growing']) mkdirSync(at(name));
  await writeSyntheticRun(at('run'), { steps: 40, prompts: 2, samples: 4, tasks: 6, evaluateEvery: 10 });
  await writeSyntheticRun(at('hostile'), {
    steps: 2,
    prompts: 1,
    samples: 2,
    tasks: 2,
    evaluateEvery: 1,
    hostile: HOSTILE,
  });
  await writeSyntheticRun(at('empty'), { steps: 0, evaluateEvery: 0 });
  await writeSyntheticRun(at('growing'), { steps: 3, prompts: 1, samples: 2, tasks: 2, evaluateEvery: 1 });
  for (const name of ['run', 'hostile', 'empty']) await writeReport(at(name));
});
test.after(async () => {
  await closeBrowser();
  rmSync(folder, { recursive: true, force: true });
});

const text = async (page: Page, selector: string) => (await texts(page, selector)).join('\n');
const press = (page: Page, group: string, value: string) =>
  page.click(`.choice[aria-label="${group}"] button[data-value="${value}"]`);
/** Evaluates an expression in the page; as text, for the names of the DOM are not known here. */
const evaluated = async <T>(page: Page, expression: string) => (await page.evaluate(expression)) as T;
const element = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
/** One value of every element that matches, by an expression over `one`. */
const each = <T>(page: Page, selector: string, expression: string) =>
  evaluated<T[]>(page, `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => ${expression})`);
const texts = (page: Page, selector: string) => each<string>(page, selector, 'one.textContent');
/** Waits until the page says so; it is drawn a moment after a click. */
const says = (page: Page, selector: string, part: string) =>
  page.waitForFunction(`${element(selector)}?.textContent?.includes(${JSON.stringify(part)})`, { timeout: 10_000 });
const hasNoSideways = (page: Page) =>
  evaluated<boolean>(page, 'document.documentElement.scrollWidth <= window.innerWidth');
const background = (page: Page, selector: string) =>
  evaluated<string>(page, `getComputedStyle(${element(selector)}).backgroundColor`);

test('every chart is drawn, without an error in the console and without a request', async () => {
  const { page, faults } = await openPage(address('run'));
  const charts = await each<[string, number]>(
    page,
    'figure.chart',
    `[one.querySelector('h3').textContent, one.querySelectorAll('svg path').length]`,
  );
  assert.is(charts.length, 18);
  for (const [name, paths] of charts) assert.ok(paths > 4, `${name} has ${paths} paths`);
  assert.equal(faults, []);
  assert.match(await text(page, '#results'), /Baseline \(no tools\).*RL \(no tools\)not evaluated.*multi-tool gain\+/s);
  assert.match(await text(page, '#when-to-search p'), /Tasks that need the documentation: from \d/);
});

test('filters choose groups, and pages go through them', async () => {
  const { page, faults } = await openPage(address('run'));
  await says(page, '.group-head', 'step 40');
  await press(page, 'groups', 'first');
  await says(page, '.group-head', 'step 1,');
  await page.click('.next');
  await says(page, '.place', 'group 2 of 4');
  await press(page, 'groups', 'changed');
  await says(page, '.place', 'group 1 of 4');
  const rewards: number[] = [];
  for (const filter of ['worst', 'best']) {
    await press(page, 'groups', filter);
    await says(page, '.place', 'group 1 of 4');
    await new Promise((settle) => setTimeout(settle, 100));
    rewards.push(Number(/mean reward (\S+),/.exec(await text(page, '.group-head'))![1]));
  }
  assert.ok(rewards[0]! < rewards[1]!, rewards.join());
  await press(page, 'groups', 'all');
  await page.type('#episodes input[type=number]', '1');
  await page.keyboard.press('Tab');
  await says(page, '.group-head', 'step 1,');
  assert.equal(faults, []);
});

test('samples stand side by side, tokens change colour with the switch, and say their probability', async () => {
  const { page } = await openPage(address('run'));
  await page.waitForSelector('.episode .t');
  const tops = await each<number>(page, '.episode', 'Math.round(one.getBoundingClientRect().top)');
  assert.is(tops.length, 4);
  assert.is(new Set(tops).size, 1);
  const color = () => background(page, '.episode .t');
  const colors = [await color()];
  for (const value of ['advantage', 'logprob']) {
    await press(page, 'colouring', value);
    colors.push(await color());
  }
  assert.is(new Set(colors).size, 3, colors.join());
  await evaluated(page, `${element('.episode .t')}.click()`);
  assert.match(await text(page, '.token-detail'), /probability [\d.]+ %, log-prob -?[\d.e-]+ nats/);
  await press(page, 'form', 'row');
  assert.match(await text(page, '.episode'), /<\|im_start\|>assistant/);
});

test('tasks are sorted by a click, and lead to their episodes', async () => {
  const { page } = await openPage(address('run'));
  const changes = () => each<number>(page, '#tasks tbody td:last-child', 'Number(one.textContent)');
  const before = await changes();
  await page.click('#tasks th:last-child button');
  const sorted = await changes();
  assert.equal(
    sorted,
    [...before].sort((a, b) => b - a),
  );
  const name = (await texts(page, '#tasks tbody button'))[0]!;
  await page.click('#tasks tbody button');
  await says(page, '.group-head', `task ${name}`);
});

test('a phone is never scrolled sideways, and dark pages are dark', async () => {
  const phone = await openPage(address('run'), { width: 390 });
  assert.ok(await hasNoSideways(phone.page));
  await press(phone.page, 'form', 'row');
  assert.ok(await hasNoSideways(phone.page));
  const dark = await openPage(address('run'), { dark: true });
  assert.is(await background(dark.page, 'body'), 'rgb(15, 18, 24)');
  await press(dark.page, 'colours', 'light');
  assert.is(await background(dark.page, 'body'), 'rgb(245, 246, 249)');
  assert.equal([...phone.faults, ...dark.faults], []);
});

test('hostile texts are shown as texts', async () => {
  const { page, faults } = await openPage(address('hostile'));
  await page.waitForSelector('.episode');
  assert.is((await each(page, 'img', '1')).length, 0);
  assert.is(await page.title(), 'hostile');
  assert.ok((await text(page, '.group-head')).includes(HOSTILE));
  assert.ok(await hasNoSideways(page));
  assert.equal(faults, []);
});

test('an empty run is a page that says so', async () => {
  const { page, faults } = await openPage(address('empty'));
  assert.match(await text(page, '.notes'), /No step is logged yet/);
  assert.match(await text(page, '#episodes'), /No episode is logged yet/);
  assert.is(await evaluated(page, `${element('#when-to-search')}.hidden`), true);
  assert.equal(faults, []);
});

test('a served page follows the run, asks its own server alone, and says when that cannot answer or has gone', async () => {
  const served = await serveReport(at('growing'));
  const { page, faults } = await openPage(served.address);
  await says(page, '.tiles', '3 of 3');
  await says(page, '.group-head', 'step 3');
  await new JsonLines(join(at('growing'), 'metrics.jsonl')).append({ step: 4, reward_mean: 1, alarms: [] });
  await says(page, '.tiles', '4 of 3');
  await press(page, 'groups', 'first');
  await says(page, '.group-head', 'step 1,');
  assert.equal(faults, []);
  const log = join(at('growing'), 'metrics.jsonl');
  const whole = readFileSync(log);
  appendFileSync(log, 'oops\n');
  await says(page, '.state', 'metrics.jsonl:5 is not JSON');
  writeFileSync(log, whole);
  await served.close();
  await says(page, '.state', 'no longer served');
});

test('a comparison draws one curve a run', async () => {
  const { html } = await compareRuns([at('run'), at('growing')], { output: at('comparison.html') });
  const { page, faults } = await openPage(pathToFileURL(html).href);
  assert.match(await text(page, '#runs tbody'), /run.*growing|growing.*run/s);
  assert.ok((await each(page, 'figure.chart svg', '1')).length >= 8);
  assert.match(await text(page, 'figure.chart'), /growing/);
  assert.equal(faults, []);
});

test.run();
