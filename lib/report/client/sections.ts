import { valueText } from '../charts/line-chart.js';
import { resultChart, resultChartOption } from '../charts/result-chart.js';
import {
  detailCharts,
  evaluationChart,
  isDrawn,
  needEnds,
  toolChart,
  trainingChart,
  whenToSearchChart,
} from '../charts/run-charts.js';
import type { ResultLine, RunData, TaskRow } from '../types.js';
import { ChartBox } from './chart-box.js';
import { h } from './dom.js';
import { SortableTable } from './sortable-table.js';

/** A part of the page that follows the run. */
export interface Section {
  element: HTMLElement;
  update: (data: RunData) => void;
}

const percent = (value: number | null | undefined) => valueText(value, 'percent');
const points = (value: number) => `${value >= 0 ? '+' : ''}${(100 * value).toFixed(1)} points`;

/** Seconds as hours, minutes or seconds. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(1)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

const tile = (label: string, value: string, note = '') =>
  h(
    'div',
    { class: 'tile' },
    h('span', { class: 'tile-label' }, label),
    h('b', {}, value),
    h('span', { class: 'tile-note' }, note),
  );

function tiles(data: RunData): HTMLElement[] {
  const { run, result, episodes, evaluations } = data;
  const line = (label: string) => result.lines.find((one) => one.label.startsWith(label) && one.evaluated);
  const [before, after] = [line('Baseline (multi-tool)'), line('RL (multi-tool)')];
  const shown: HTMLElement[] = [];
  if (before && after && after.passRate !== null) {
    const gain = result.toolLearning === null ? '' : points(result.toolLearning);
    shown.push(tile('pass@1, multi-tool', `${percent(before.passRate)} → ${percent(after.passRate)}`, gain));
  } else if (before && after) {
    shown.push(
      tile(
        'mean reward, held out',
        `${valueText(before.rewardMean, 'number')} → ${valueText(after.rewardMean, 'number')}`,
      ),
    );
  }
  const needs = needEnds(evaluations);
  if (needs) {
    const [first, last] = needs;
    shown.push(
      tile('searches when needed', `${percent(first.search_rate_needed)} → ${percent(last.search_rate_needed)}`),
      tile(
        'searches when not needed',
        `${percent(first.search_rate_unneeded)} → ${percent(last.search_rate_unneeded)}`,
      ),
    );
  }
  shown.push(
    tile(
      'steps',
      `${run.stepsDone}${run.stepsPlanned === null ? '' : ` of ${run.stepsPlanned}`}`,
      durationText(run.seconds),
    ),
    tile('episodes', episodes.total.toLocaleString('en'), `${run.tokensSampled.toLocaleString('en')} tokens sampled`),
  );
  return shown;
}

export function overview(): Section {
  const box = h('div', { class: 'tiles' });
  const notes = h('ul', { class: 'notes' });
  return {
    element: h('section', { id: 'overview' }, box, notes),
    update: (data) => {
      box.replaceChildren(...tiles(data));
      notes.replaceChildren(...data.notes.map((note) => h('li', {}, note)));
    },
  };
}

function resultRow(line: ResultLine, isReward: boolean): HTMLElement {
  if (!line.evaluated)
    return h('tr', { class: 'absent' }, h('td', {}, line.label), h('td', {}, 'not evaluated'), h('td', { colspan: 2 }));
  const value = isReward ? valueText(line.rewardMean, 'number') : percent(line.passRate);
  const interval = line.ci95[0] === null ? '–' : `${percent(line.ci95[0])} to ${percent(line.ci95[1])}`;
  const count = `${line.n}${line.invalid > 0 ? ` (${line.invalid} invalid)` : ''}`;
  return h(
    'tr',
    {},
    h('td', {}, line.label),
    h('td', {}, h('b', {}, value)),
    h('td', {}, interval),
    h('td', {}, count),
  );
}

function resultTable({ result }: Pick<RunData, 'result'>, isReward: boolean): HTMLElement {
  const gain = (name: string, value: number | null) =>
    h(
      'tr',
      { class: 'gain' },
      h('td', {}, name),
      h('td', {}, value === null ? '–' : points(value)),
      h('td', { colspan: 2 }),
    );
  const heads = ['', isReward ? 'mean reward' : 'pass@1', '95 % interval', 'episodes'];
  return h(
    'table',
    {},
    h('thead', {}, h('tr', {}, ...heads.map((name) => h('th', { scope: 'col' }, name)))),
    h(
      'tbody',
      {},
      ...result.lines.map((line) => resultRow(line, isReward)),
      ...(isReward ? [] : [gain('multi-tool gain', result.multiTool), gain('tool-learning gain', result.toolLearning)]),
    ),
  );
}

export function results(): Section {
  const bars = new ChartBox();
  const table = h('div', { class: 'wide', tabindex: 0 });
  return {
    element: h('section', { id: 'results' }, h('h2', {}, 'Result'), h('div', { class: 'pair' }, bars.element, table)),
    update: (data) => {
      const chart = resultChart(data.result.lines);
      const isReward = chart.measure === 'reward' && chart.bars.length > 0;
      const title = isReward ? 'Mean reward before and after' : 'pass@1 before and after';
      bars.show(
        title,
        chart.bars.length > 0 ? (theme) => resultChartOption(chart, theme) : undefined,
        'no evaluation yet',
      );
      table.replaceChildren(resultTable(data, isReward));
    },
  };
}

/** How searches split by need; hidden where tasks don't tell. */
export function whenToSearch(): Section {
  const box = new ChartBox('tall');
  const text = h('p', {});
  const element = h('section', { id: 'when-to-search' }, h('h2', {}, 'Learns when to search'), text, box.element);
  return {
    element,
    update: (data) => {
      const needs = needEnds(data.evaluations);
      element.hidden = needs === undefined;
      if (needs === undefined) return;
      const [first, last] = needs;
      const change = (from: number | null | undefined, to: number | null | undefined) =>
        `${percent(from)} to ${percent(to)}`;
      text.textContent =
        `Share of held-out episodes that search. Tasks that need the documentation: from ${change(first.search_rate_needed, last.search_rate_needed)}. ` +
        `Tasks that do not: from ${change(first.search_rate_unneeded, last.search_rate_unneeded)}. ` +
        'Pale lines: training episodes, each step.';
      const chart = whenToSearchChart(data);
      box.line({ ...chart, title: 'Episodes that search, by need' }, isDrawn(chart));
    },
  };
}

const smoothNote = (size: number | undefined) =>
  (size ?? 1) > 1 ? `Thin lines: each step. Thick lines: mean of the last ${size} points.` : '';

export function training(): Section {
  const boxes = [new ChartBox(), new ChartBox(), new ChartBox()] as const;
  const note = h('p', { class: 'note' });
  return {
    element: h(
      'section',
      { id: 'training' },
      h('h2', {}, 'Training'),
      note,
      h('div', { class: 'charts' }, ...boxes.map((box) => box.element)),
    ),
    update: (data) => {
      const charts = [trainingChart(data), toolChart(data), evaluationChart(data)];
      const titles = ['Training episodes', 'Tool selection', 'Held-out tasks'];
      charts.forEach((chart, index) => boxes[index]!.line({ ...chart, title: titles[index]! }, isDrawn(chart)));
      note.textContent = smoothNote(charts[0]!.smooth);
    },
  };
}

export function details(): Section {
  const element = h('section', { id: 'details' });
  const boxes: ChartBox[] = [];
  return {
    element,
    update: (data) => {
      const parts = detailCharts(data);
      if (boxes.length === 0) {
        for (const part of parts) {
          const own = part.charts.map(() => new ChartBox('small'));
          boxes.push(...own);
          element.append(
            h('h2', {}, part.title),
            h('p', { class: 'note' }, part.note),
            h('div', { class: 'charts' }, ...own.map((box) => box.element)),
          );
        }
      }
      parts
        .flatMap((part) => part.charts)
        .forEach((chart, index) => boxes[index]!.line(chart, isDrawn(chart), 'this run has no such number'));
    },
  };
}

export function tasks(showEpisodes: (task: string) => void): Section {
  const rate = (name: string, value: (row: TaskRow) => number | null) => ({
    name,
    value,
    show: (row: TaskRow) => percent(value(row)),
  });
  const number = (name: string, value: (row: TaskRow) => number | null) => ({
    name,
    value,
    show: (row: TaskRow) => valueText(value(row), 'number'),
  });
  const table = new SortableTable<TaskRow>([
    {
      name: 'task',
      value: (row) => row.task,
      show: (row) => h('button', { type: 'button', class: 'link', click: () => showEpisodes(row.task) }, row.task),
    },
    number('episodes', (row) => row.episodes),
    rate('passed', (row) => row.passRate),
    rate('passed early', (row) => row.passEarly),
    rate('passed late', (row) => row.passLate),
    number('reward', (row) => row.rewardMean),
    number('early', (row) => row.rewardEarly),
    number('late', (row) => row.rewardLate),
    number('change', (row) =>
      row.rewardEarly === null || row.rewardLate === null ? null : row.rewardLate - row.rewardEarly,
    ),
  ]);
  return {
    element: h(
      'section',
      { id: 'tasks' },
      h('h2', {}, 'Tasks'),
      h(
        'p',
        { class: 'note' },
        'Early and late are the first and second half of the groups of a task. A click on a task shows its episodes.',
      ),
      table.element,
    ),
    update: (data) => (table.rows = data.tasks),
  };
}

/** One line an alarm: how often it sounded, and between which steps. */
function alarmLines(alarms: RunData['alarms']): string[] {
  return [...new Set(alarms.flatMap(({ names }) => names))].map((name) => {
    const steps = alarms.filter(({ names }) => names.includes(name)).map(({ step }) => step);
    const range =
      steps.length === 1 ? `step ${steps[0]}` : `${steps.length} steps between ${steps[0]} and ${steps.at(-1)}`;
    return `${name}: at ${range}`;
  });
}

export function configuration(): Section {
  const text = h('pre', {});
  const alarms = h('ul', { class: 'notes' });
  return {
    element: h(
      'section',
      { id: 'configuration' },
      h('h2', {}, 'Alarms and configuration'),
      alarms,
      h('details', {}, h('summary', {}, 'config.json'), text),
    ),
    update: (data) => {
      text.textContent = data.run.config;
      const lines = alarmLines(data.alarms).map((line) => h('li', {}, line));
      alarms.replaceChildren(...(lines.length > 0 ? lines : [h('li', {}, 'No alarm sounded.')]));
    },
  };
}
