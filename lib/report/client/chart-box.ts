import type { ECharts, EChartsOption } from 'echarts';
import { lineChartOption } from '../charts/line-chart.js';
import type { LineChart } from '../charts/line-chart.js';
import type { ChartTheme } from '../charts/theme.js';
import { h } from './dom.js';
import { chartTheme, onTheme } from './theme.js';

declare const echarts: { init: (element: HTMLElement, theme: null, options: { renderer: 'svg' }) => ECharts };

/** A chart with its title, which follows the page's colours and width. */
export class ChartBox {
  readonly element: HTMLElement;
  readonly #title: HTMLElement;
  readonly #canvas: HTMLElement;
  #chart: ECharts | undefined;
  #option: ((theme: ChartTheme, width: number) => EChartsOption) | undefined;

  constructor(className = '') {
    this.#title = h('h3', {});
    this.#canvas = h('div', { class: 'canvas' });
    this.element = h('figure', { class: `chart ${className}` }, this.#title, this.#canvas);
    onTheme(() => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
  }

  /** Shows a chart; where there is nothing to show it says so. */
  show(
    title: string,
    option: ((theme: ChartTheme, width: number) => EChartsOption) | undefined,
    missing = 'no values',
  ): void {
    this.#title.textContent = title;
    this.#option = option;
    this.element.classList.toggle('empty', option === undefined);
    if (option === undefined) {
      this.#chart?.dispose();
      this.#chart = undefined;
      this.#canvas.replaceChildren(h('p', { class: 'missing' }, missing));
    } else {
      this.#draw();
    }
  }

  line(chart: LineChart, isDrawn: boolean, missing?: string): void {
    this.show(chart.title, isDrawn ? (theme, width) => lineChartOption(chart, theme, width) : undefined, missing);
  }

  #draw(): void {
    // Not in the page yet, or folded away.
    if (this.#option === undefined || this.#canvas.clientWidth === 0) return;
    if (this.#chart === undefined) this.#canvas.replaceChildren();
    this.#chart ??= echarts.init(this.#canvas, null, { renderer: 'svg' });
    this.#chart.resize();
    this.#chart.setOption(this.#option(chartTheme(), this.#canvas.clientWidth), { notMerge: true });
  }
}
