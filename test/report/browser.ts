import { existsSync } from 'node:fs';
import puppeteer from 'puppeteer-core';
import type { Browser, Page } from 'puppeteer-core';
import { skipAloud } from '../harness.js';

const EXECUTABLE = [
  process.env['CHROME_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));
if (EXECUTABLE === undefined) skipAloud('no Chromium: apt-get install chromium, or set CHROME_PATH');

let browser: Promise<Browser> | undefined;

/** A page that is open and drawn, and everything it has complained of or asked for beside its own address. */
export interface OpenedPage {
  page: Page;
  faults: string[];
}

/** Opens an address and waits until the page is drawn. */
export async function openPage(address: string, { width = 1280, dark = false } = {}): Promise<OpenedPage> {
  // Inside containers Chromium has no sandbox of its own; it opens only pages of these tests.
  browser ??= puppeteer.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const page = await (await browser).newPage();
  const faults: string[] = [];
  page.on('console', (message) => faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`error: ${String(error)}`));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:') && !request.url().startsWith(address))
      faults.push(`request: ${request.url()}`);
  });
  await page.setViewport({ width, height: 900, isMobile: width < 600 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
  await page.goto(address);
  await page.waitForSelector('html[data-ready=true]', { timeout: 20_000 });
  return { page, faults };
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
}
