import { init } from 'echarts';

/** Lines over a common axis, from 0 upwards. */
export interface LinePlot {
  title: string;
  /** What the axes count. */
  x: string;
  y: string;
  series: Record<string, [x: number, y: number][]>;
}

const SIZE = { width: 640, height: 320 };

/** A plot as SVG text. */
export function linePlot({ title, x, y, series }: LinePlot): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...SIZE });
  const names = Object.keys(series);
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, textStyle: { fontSize: 14 } },
    legend: { data: names, top: 26 },
    grid: { top: 74, left: 56, right: 20, bottom: 44 },
    xAxis: { type: 'value', name: x, nameLocation: 'middle', nameGap: 26, max: 'dataMax' },
    yAxis: { type: 'value', name: y, min: 0 },
    series: names.map((name) => ({ type: 'line', name, data: series[name], showSymbol: false })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg}\n`;
}
