import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PAGES, readPage, ROOT } from './pages.js';

/** GitHub's name for a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const prose = (page: string) => readPage(page).replace(/^```.*?^```$/gms, '');

test('every link between pages leads to a file, and to a heading where it names one', () => {
  const broken: string[] = [];
  let count = 0;
  for (const page of PAGES) {
    for (const [, target] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue;
      count++;
      const [path = '', heading] = target!.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      const there = existsSync(join(ROOT, file));
      const headings =
        there && heading ? [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchor(text!)) : [];
      if (!there || (heading && !headings.includes(heading))) broken.push(`${page}: ${target}`);
    }
  }
  assert.equal(broken, []);
  assert.ok(count > 20, `${count} links`);
});

test('every page of docs/ is listed in its index', () => {
  const index = readPage('docs/README.md');
  const names = readdirSync(join(ROOT, 'docs')).filter((name) => name !== 'README.md');
  assert.equal(
    names.filter((name) => !index.includes(`(${name})`)),
    [],
  );
});

test('every command that a page names exists', () => {
  const commands = readdirSync(join(ROOT, 'bin/commands')).map((name) => basename(name, '.ts'));
  const named = PAGES.flatMap((page) =>
    [...readPage(page).matchAll(/npx grpo-native ([a-z]+)/g)].map(([, command]) => command!),
  );
  assert.ok(named.includes('train') && named.includes('doctor'));
  assert.equal(
    named.filter((command) => !commands.includes(command)),
    [],
  );
});

test('the README names what the first build needs, in one line to copy', () => {
  const [, packages] = /^apt-get update && apt-get install -y (.*)$/m.exec(readPage('README.md'))!;
  assert.equal(packages!.split(' ').sort(), ['bubblewrap', 'cmake', 'g++', 'make', 'python3']);
});

test.run();
