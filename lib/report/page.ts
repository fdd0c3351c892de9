import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolder } from '../package-folder.js';

const HERE = dirname(fileURLToPath(import.meta.url));

/** What a page is: which program runs in it, and what it is given. */
export interface Page {
  title: string;
  /** Module of `client/` that starts it. */
  entry: 'run-page' | 'comparison-page';
  /** Embedded as JSON for the program to read. */
  data: unknown;
  /** The page asks its own server for more. */
  served?: boolean;
}

/** JSON that cannot end the element it stands in, whatever texts it holds. */
export const embeddedJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A module of the page as JavaScript: compiled beside this file, or (in a checkout) translated from its TypeScript. */
async function moduleText(path: string): Promise<string> {
  const compiled = `${path}.js`;
  if (existsSync(compiled)) return readFile(compiled, 'utf8');
  const { default: ts } = await import('typescript');
  const { ES2022, ESNext } = { ES2022: ts.ScriptTarget.ES2022, ESNext: ts.ModuleKind.ESNext };
  const source = await readFile(`${path}.ts`, 'utf8');
  return ts.transpileModule(source, { compilerOptions: { target: ES2022, module: ESNext } }).outputText;
}

const IMPORT = /(\bfrom\s*|\bimport\s*)'(\.[^']+)\.js'/g;
const nameOf = (path: string) => `grpo-report/${relative(HERE, path)}`;

const known = new Map<string, Promise<Map<string, string>>>();

/** The modules behind an entry, by the names under which they import one another; read once in a process. */
async function modulesOf(entry: string): Promise<Map<string, string>> {
  const found = known.get(entry) ?? readModules(entry);
  known.set(entry, found);
  return found;
}

async function readModules(entry: string): Promise<Map<string, string>> {
  const modules = new Map<string, string>();
  const waiting = [join(HERE, 'client', entry)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(nameOf(path))) continue;
    const folder = dirname(path);
    const text = await moduleText(path);
    const named = text.replace(IMPORT, (_, before: string, target: string) => {
      waiting.push(join(folder, target));
      return `${before}'${nameOf(join(folder, target))}'`;
    });
    modules.set(nameOf(path), named);
  }
  return modules;
}

const dataUrl = (text: string) => `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;

/** The charts' library, as a plain script. */
const chartLibrary = async () =>
  readFile(createRequire(import.meta.url).resolve('echarts/dist/echarts.common.min.js'), 'utf8');

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Bytes of everything but the data. */
export async function pageFrameBytes(page: Omit<Page, 'data'>): Promise<number> {
  return Buffer.byteLength(await renderPage({ ...page, data: 0 }));
}

/**
 * One HTML file that holds all it needs. Texts of the run are data in it, never markup, and its policy lets nothing run but the
 * scripts written here.
 */
export async function renderPage({ title, entry, data, served }: Page): Promise<string> {
  const modules = await modulesOf(entry);
  const imports = Object.fromEntries([...modules].map(([name, text]) => [name, dataUrl(text)]));
  const start = nameOf(join(HERE, 'client', entry));
  const importMap = embeddedJson({ imports });
  const library = (await chartLibrary()).replace(/<\/script/gi, '<\\/script');
  const main = `import '${start}';`;
  const style = await readFile(join(packageFolder(), 'lib/report/client/page.css'), 'utf8');
  const policy = [
    `default-src 'none'`,
    `script-src data: ${[importMap, library, main].map(digest).join(' ')}`,
    `style-src 'unsafe-inline'`,
    `img-src data:`,
    ...(served ? [`connect-src 'self'`] : []),
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="grpo-native">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>
<style>
${style}</style>
</head>
<body>
<main id="page"><noscript>This page draws its charts with JavaScript, which is switched off here.</noscript></main>
<script type="application/json" id="data">${embeddedJson(data)}</script>
<script type="importmap">${importMap}</script>
<script>${library}</script>
<script type="module">${main}</script>
</body>
</html>
`;
}
