import { comparisonCharts } from '../charts/comparison-charts.js';
import { isDrawn } from '../charts/run-charts.js';
import { cellText, comparisonColumns } from '../comparison-columns.js';
import type { ComparedRun } from '../types.js';
import { ChartBox } from './chart-box.js';
import { h } from './dom.js';
import { SortableTable } from './sortable-table.js';
import { themeSwitch } from './theme.js';

const runs = JSON.parse(document.getElementById('data')?.textContent ?? '[]') as ComparedRun[];
const columns = comparisonColumns.filter(({ value }) => runs.some((run) => value(run) !== null));
const table = new SortableTable<ComparedRun>([
  { name: 'run', value: ({ name }) => name },
  ...columns.map((column) => ({ ...column, show: (run: ComparedRun) => cellText(column, run) })),
]);
table.rows = runs;
const charts = comparisonCharts(runs).map((chart) => {
  const box = new ChartBox();
  return { box, show: () => box.line(chart, isDrawn(chart)) };
});

document
  .getElementById('page')!
  .replaceChildren(
    h(
      'header',
      { class: 'top' },
      h('h1', {}, `${runs.length} runs compared`),
      h('div', { class: 'top-right' }, themeSwitch()),
    ),
    h('section', { id: 'runs' }, h('h2', {}, 'Runs'), table.element),
    h(
      'section',
      { id: 'curves' },
      h('h2', {}, 'Curves'),
      h('div', { class: 'charts' }, ...charts.map(({ box }) => box.element)),
    ),
  );
for (const { show } of charts) show();
document.documentElement.dataset['ready'] = 'true';
