import type { BarSeriesOption, EChartsOption } from 'echarts';
import type { ResultLine } from '../types.js';
import { chartBase, percentText, valueText } from './line-chart.js';
import type { ChartColor, ChartTheme } from './theme.js';

/** One bar of the first panel. */
export interface ResultBar {
  label: string;
  value: number;
  color: ChartColor;
}

export interface ResultChart {
  bars: ResultBar[];
  /** 'reward' where no evaluation has a verdict. */
  measure: 'pass@1' | 'reward';
  /** Best bar minus the baseline without tools; undefined where either is missing. */
  gain?: number;
}

const BARS: [string, string, ChartColor][] = [
  ['Baseline (no tools)', 'no tools', 'grey'],
  ['Baseline (code only)', 'code only', 'lightBlue'],
  ['Baseline (multi-tool)', 'multi-tool\nbefore', 'blue'],
  ['RL (multi-tool)', 'multi-tool\nafter RL', 'green'],
];

/** The bars of the first panel: baselines in every mode, and the trained policy with all tools. */
export function resultChart(lines: readonly ResultLine[]): ResultChart {
  const known = BARS.flatMap(([label, short, color]) => {
    const line = lines.find((one) => one.evaluated && one.label.startsWith(label));
    return line ? [{ line, short, color }] : [];
  });
  const measure = known.some(({ line }) => line.passRate !== null) ? 'pass@1' : 'reward';
  const valueOf = (line: ResultLine) => (measure === 'pass@1' ? line.passRate : line.rewardMean);
  const bars = known.flatMap(({ line, short, color }) => {
    const value = valueOf(line);
    return value === null ? [] : [{ label: short, value, color }];
  });
  const base = bars.find((bar) => bar.label === 'no tools');
  if (base === undefined || bars.length < 2) return { bars, measure };
  return { bars, measure, gain: Math.max(...bars.map((bar) => bar.value)) - base.value };
}

const signed = (text: string, value: number) => `${value >= 0 ? '+' : ''}${text}`;

/** The gain as text: points of pass@1, or reward. */
export function gainText({ gain, measure }: ResultChart): string | undefined {
  if (gain === undefined) return undefined;
  const text = measure === 'pass@1' ? `${(100 * gain).toFixed(1)} points` : valueText(gain, 'number');
  return `best over no tools: ${signed(text, gain)}`;
}

/** Where an axis of shares may end; a quarter of each is a round number. */
const TOPS = [0.1, 0.2, 0.4, 0.6, 0.8, 1];

/** The first panel: one bar a mode, values on the bars, the gain above. */
export function resultChartOption(chart: ResultChart, theme: ChartTheme): EChartsOption {
  const size = theme.fontSize;
  const percent = chart.measure === 'pass@1';
  const highest = 1.06 * Math.max(...chart.bars.map((bar) => bar.value));
  const top = percent ? (TOPS.find((value) => value >= highest) ?? 1) : undefined;
  const series: BarSeriesOption = {
    type: 'bar',
    barMaxWidth: size * 6,
    barCategoryGap: '35%',
    data: chart.bars.map((bar) => ({
      value: bar.value,
      itemStyle: { color: theme.colors[bar.color], borderRadius: [size / 4, size / 4, 0, 0] },
    })),
    label: {
      show: true,
      position: 'top',
      color: theme.text,
      fontSize: size * 1.25,
      fontWeight: 'bold',
      formatter: ({ value }) => valueText(value as number, percent ? 'percent' : 'number'),
    },
    markLine: {
      silent: true,
      symbol: 'none',
      label: { show: false },
      lineStyle: { color: theme.muted, type: 'dashed', width: 1 },
      data: chart.gain === undefined ? [] : [{ yAxis: chart.bars.find((bar) => bar.label === 'no tools')?.value }],
    },
  };
  return {
    ...chartBase(theme),
    title: {
      text: gainText(chart) ?? '',
      left: 0,
      top: size / 4,
      padding: 0,
      textStyle: { color: theme.text, fontSize: size * 1.15, fontWeight: 'bold', fontFamily: theme.fontFamily },
    },
    grid: {
      left: size * 0.6,
      right: size,
      top: size * 3.2,
      bottom: size * 0.4,
      outerBoundsMode: 'same',
      outerBoundsContain: 'all',
    },
    xAxis: {
      type: 'category',
      data: chart.bars.map((bar) => bar.label),
      axisLine: { lineStyle: { color: theme.line } },
      axisTick: { show: false },
      axisLabel: { color: theme.text, fontSize: size, interval: 0, lineHeight: size * 1.35 },
    },
    yAxis: {
      type: 'value',
      min: percent ? 0 : undefined,
      max: top,
      interval: top === undefined ? undefined : top / 4,
      splitLine: { lineStyle: { color: theme.line } },
      axisLabel: { color: theme.muted, fontSize: size, formatter: percent ? percentText : undefined },
    },
    series: [series],
  };
}
