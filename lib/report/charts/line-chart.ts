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
      showSymbol: false,
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

/** What all charts have in common. */
export function chartBase(theme: ChartTheme): EChartsOption {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: theme.fontFamily, color: theme.text },
    aria: { enabled: true },
  };
}

/** The chart of some curves over steps. Curves without any value are left out. */
export function lineChartOption(chart: LineChart, theme: ChartTheme): EChartsOption {
  const curves = chart.curves.filter(hasValues);
  const size = theme.fontSize;
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
      top: size * (right || chart.left.name ? 5 : 3.6),
      bottom: size * 0.6,
      outerBoundsMode: 'same',
      outerBoundsContain: 'all',
    },
    legend: {
      data: curves.map((curve) => curve.name),
      type: 'scroll',
      left: 0,
      top: 0,
      itemWidth: size * 1.6,
      itemHeight: size * 0.7,
      textStyle: { color: theme.text, fontSize: size },
      pageTextStyle: { color: theme.muted },
      pageIconColor: theme.muted,
      pageIconInactiveColor: theme.line,
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
      min: 'dataMin',
      max: 'dataMax',
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
