import type { EmbeddedRun, RunData } from '../types.js';
import { h } from './dom.js';
import { configuration, details, overview, results, tasks, training, whenToSearch } from './sections.js';
import { embeddedSource, Refusal, servedSource } from './source.js';
import { themeSwitch } from './theme.js';
import { Viewer } from './viewer.js';

/** Milliseconds between two looks at a run that is served. */
const POLL_MS = 2_000;

const given = JSON.parse(document.getElementById('data')?.textContent ?? 'null') as EmbeddedRun | { served: true };
const source = 'served' in given ? servedSource() : embeddedSource(given);
const page = document.getElementById('page') as HTMLElement;

const title = h('h1', {});
const subtitle = h('p', { class: 'subtitle' });
const state = h('span', { class: 'state', role: 'status' });
const viewer = new Viewer(source);
const sections = [
  overview(),
  whenToSearch(),
  results(),
  training(),
  details(),
  tasks((task) => viewer.showTask(task)),
  { element: viewer.element, update: (data: RunData) => viewer.update(data) },
  configuration(),
];
const NAVIGATION = [
  ['results', 'Result'],
  ['training', 'Training'],
  ['details', 'Curves'],
  ['tasks', 'Tasks'],
  ['episodes', 'Episodes'],
] as const;

page.replaceChildren(
  h(
    'header',
    { class: 'top' },
    h('div', {}, title, subtitle),
    h('div', { class: 'top-right' }, state, themeSwitch()),
    h('nav', {}, ...NAVIGATION.map(([id, name]) => h('a', { href: `#${id}` }, name))),
  ),
  ...sections.map((section) => section.element),
);

let shown = '';

function update(data: RunData): void {
  const text = JSON.stringify(data);
  if (text === shown) return;
  shown = text;
  const { run } = data;
  title.textContent = run.name;
  subtitle.textContent = [run.model, run.environment].filter((name) => name !== null).join(' · ');
  for (const section of sections) section.update(data);
  document.documentElement.dataset['ready'] = 'true';
}

async function follow(): Promise<void> {
  try {
    update(await source.data());
    state.textContent = `live, ${new Date().toLocaleTimeString('en-GB')}`;
    state.classList.remove('lost');
  } catch (error) {
    const isServed = error instanceof Refusal;
    state.textContent = isServed ? error.message : 'no longer served: report.html in the run folder holds the rest';
    state.classList.add('lost');
  }
  setTimeout(() => void follow(), POLL_MS);
}

if (source.served) void follow();
else void source.data().then(update);
