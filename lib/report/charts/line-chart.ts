import type { EChartsOption, LineSeriesOption, YAXisComponentOption } from 'echarts';
import type { ChartColor, ChartTheme } from './theme.js';

/** One curve: values over steps, null where there is none. */
export interface Curve {
  name: string;
  color: ChartColor;
  /** [step, value] */
  points: (readonly [number, number | null])[];
  /** Draw every point and a thick line: few values, each a measurement of its own. */
  marked?: boolean;
  dashed?: boolean;
  /** A thin, pale line that the legend leaves out: company for a marked curve of the same color. */
  faint?: boolean;
  /** Belongs to the axis at the right. */
  right?: boolean;
}

export interface AxisForm {
  /** 'percent': values are shares, 0 to 1. */
  unit: 'percent' | 'number';
  name?: string;
  min?: number;
  max?: number;
  log?: boolean;
}

export interface LineChart {
  title: string;
  curves: Curve[];
  left: AxisForm;
  right?: AxisForm;
  /** Steps that a thick curve is the mean of; 1 = curves as they are. */
  smooth?: number;
}

/** Text of a share. */
export const percentText = (value: number): string => `${Math.round(1000 * value) / 10} %`;

const fewDigits = (value: number) =>
  Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(1)
    : String(Number(value.toPrecision(3)));

/** Text of a number in a chart or table. */
export const valueText = (value: number | null | undefined, unit: AxisForm['unit']): string =>
  typeof value !== 'number' ? '–' : unit === 'percent' ? percentText(value) : fewDigits(value);

/** Mean over each point and those before it, `size` at most; null stays null. */
export function trailingMeans(points: Curve['points'], size: number): [number, number | null][] {
  return points.map(([step, value], index) => {
    if (value === null) return [step, null];
    const near = points.slice(Math.max(0, index - size + 1), index + 1).flatMap(([, other]) => other ?? []);
    return [step, near.reduce((sum, other) => sum + other, 0) / near.length];
  });
}

/** How many points a thick curve averages: a twentieth of the run, 1 for short ones. */
export const smoothingFor = (points: number): number => (points < 20 ? 1 : Math.max(2, Math.round(points / 20)));

export const hasValues = (curve: Curve): boolean => curve.points.some(([, value]) => value !== null);

function seriesOf(curve: Curve, smooth: number, theme: ChartTheme): LineSeriesOption[] {
  const color = theme.colors[curve.color];
  const common: LineSeriesOption = {
    type: 'line',
    name: curve.name,
    color,
    yAxisIndex: curve.right ? 1 : 0,
    connectNulls: true,
    emphasis: { disabled: true },
  };
  const isShort = curve.points.length < 30;
  const type = curve.dashed ? 'dashed' : 'solid';
  if (curve.faint) {
    const data = curve.points.map((point) => [...point]);
    return [{ ...common, data, showSymbol: false, lineStyle: { width: theme.fontSize / 9, type, opacity: 0.4 }, z: 2 }];
  }
  if (curve.marked || smooth <= 1) {
    return [
      {
        ...common,
        data: curve.points.map((point) => [...point]),
        showSymbol: curve.marked === true || isShort,
        symbol: curve.marked ? 'circle' : 'emptyCircle',
        symbolSize: curve.marked ? theme.fontSize * 0.6 : theme.fontSize * 0.35,
        lineStyle: { width: theme.fontSize / (curve.marked ? 5 : 6), type },
        z: curve.marked ? 4 : 3,
      },
    ];
  }
  return [
    {
      ...common,
      name: `${curve.name}, each step`,
      data: curve.points.map((point) => [...point]),
      showSymbol: false,
      lineStyle: { width: 1, opacity: 0.28 },
      tooltip: { show: false },
      z: 2,
    },
    {
      ...common,
      data: trailingMeans(curve.points, smooth),
      // A single point has no line.
      showSymbol: curve.points.length < 3,
      lineStyle: { width: theme.fontSize / 5.5, type },
      z: 3,
    },
  ];
}

function valueAxis(form: AxisForm, theme: ChartTheme, position: 'left' | 'right'): YAXisComponentOption {
  return {
    type: form.log ? 'log' : 'value',
    position,
    name: form.name,
    nameLocation: 'end',
    nameTextStyle: {
      color: theme.muted,
      fontSize: theme.fontSize,
      align: position === 'left' ? 'left' : 'right',
      padding: position === 'left' ? [0, 0, 0, -theme.fontSize * 2] : [0, -theme.fontSize * 2, 0, 0],
    },
    min: form.min,
    max: form.max,
    scale: form.min === undefined,
    splitNumber: 4,
    interval: form.unit === 'percent' && form.max === 1 ? 0.25 : undefined,
    splitLine: { show: position === 'left', lineStyle: { color: theme.line } },
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: {
      color: theme.muted,
      fontSize: theme.fontSize,
      formatter: (value: number) => valueText(value, form.unit),
    },
  };
}

/** Width of a legend's sign, and room between its entries, in letter heights. */
const LEGEND_ICON = 1.6;
const LEGEND_GAP = 1.1;

/** What all charts have in common. */
export function chartBase(theme: ChartTheme): EChartsOption {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: theme.fontFamily, color: theme.text },
    aria: { enabled: true },
  };
}

/** Lines that a legend takes; letters are about half as wide as high. */
function legendLines(names: readonly string[], size: number, width: number): number {
  let lines = 1;
  let used = 0;
  for (const name of names) {
    const needed = size * (0.58 * name.length + LEGEND_ICON + LEGEND_GAP + 0.5);
    if (used > 0 && used + needed > width) {
      lines++;
      used = 0;
    }
    used += needed;
  }
  return lines;
}

/** First and last step, with room around a single one. */
function stepRange(curves: readonly Curve[]): [number, number] {
  const steps = curves.flatMap(({ points }) => points.map(([step]) => step));
  const [low, high] = steps.reduce(
    ([least, most], step) => [Math.min(least, step), Math.max(most, step)],
    [Infinity, -Infinity],
  );
  return low === high ? [Math.max(0, low - 1), high + 1] : [low, high];
}

/**
 * The chart of some curves over steps. Curves without any value are left out.
 *
 * @param width of the chart, px
 */
export function lineChartOption(chart: LineChart, theme: ChartTheme, width: number): EChartsOption {
  const curves = chart.curves.filter(hasValues);
  const size = theme.fontSize;
  // A curve of the title's name needs no other.
  const hasLegend = chart.curves.length > 1 || chart.curves.some(({ name }) => name !== chart.title);
  const names = curves.filter(({ faint }) => !faint).map((curve) => curve.name);
  const lines = legendLines(names, size, width);
  const [first, last] = stepRange(curves);
  const right = curves.some((curve) => curve.right) ? chart.right : undefined;
  const unitOf = (name: string | undefined) => {
    const curve = curves.find((one) => one.name === name);
    return (curve?.right ? right : chart.left)?.unit ?? 'number';
  };
  return {
    ...chartBase(theme),
    grid: {
      left: size * 0.6,
      right: size * (right ? 0.6 : 1.6),
      top: size * (hasLegend ? 1.2 + 1.75 * lines : 0.8),
      bottom: size * 0.6,
      outerBoundsMode: 'same',
      outerBoundsContain: 'all',
    },
    legend: {
      show: hasLegend,
      data: names,
      type: 'plain',
      left: 0,
      top: 3,
      padding: 0,
      itemGap: size * LEGEND_GAP,
      itemWidth: size * LEGEND_ICON,
      itemHeight: size * 0.7,
      textStyle: { color: theme.text, fontSize: size },
    },
    tooltip: {
      trigger: 'axis',
      confine: true,
      backgroundColor: theme.background,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: size },
      order: 'valueDesc',
      valueFormatter: (value: unknown) => (typeof value === 'number' ? fewDigits(value) : '–'),
    },
    xAxis: {
      type: 'value',
      min: first,
      max: last,
      minInterval: 1,
      name: 'step',
      nameLocation: 'middle',
      nameGap: size * 1.9,
      nameTextStyle: { color: theme.muted, fontSize: size },
      axisLine: { lineStyle: { color: theme.line } },
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: { color: theme.muted, fontSize: size, hideOverlap: true },
    },
    yAxis: [valueAxis(chart.left, theme, 'left'), ...(right ? [valueAxis(right, theme, 'right')] : [])],
    series: curves.flatMap((curve) =>
      seriesOf(curve, chart.smooth ?? 1, theme).map((series): LineSeriesOption => {
        const unit = unitOf(curve.name);
        return {
          ...series,
          tooltip: {
            ...series.tooltip,
            valueFormatter: (value) => valueText(typeof value === 'number' ? value : null, unit),
          },
        };
      }),
    ),
  };
}
