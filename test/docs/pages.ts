import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** Every page for readers, relative to the root of the package. */
export const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'examples/README.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name)),
].filter((path) => path.endsWith('.md'));

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** A fenced block of a page. */
export interface CodeBlock {
  page: string;
  line: number;
  language: string;
  code: string;
}

export function codeBlocks(page: string): CodeBlock[] {
  const text = readPage(page);
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1]!,
    code: match[2]!,
  }));
}

/** Whole programs: blocks of JavaScript or TypeScript that import the package. */
export const PROGRAMS = PAGES.flatMap(codeBlocks).filter(
  ({ language, code }) => /^[jt]s$/.test(language) && /^import .* from 'grpo-native';$/m.test(code),
);

/** They run Python of a model, and so want a sandbox. */
export const needsSandbox = ({ code }: CodeBlock): boolean => code.includes('Sandbox.open');
