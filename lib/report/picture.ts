import { createRequire } from 'node:module';
import type { EChartsOption } from 'echarts';
import { lineChartOption } from './charts/line-chart.js';
import { resultChart, resultChartOption } from './charts/result-chart.js';
import { isDrawn, toolPanel, trainingChart } from './charts/run-charts.js';
import { LIGHT } from './charts/theme.js';
import type { ChartTheme } from './charts/theme.js';
import type { RunData } from './types.js';

const FONT = 'Inter';
const FONT_FILES = ['400Regular/Inter_400Regular.ttf', '700Bold/Inter_700Bold.ttf'];
const THEME: ChartTheme = { ...LIGHT, fontFamily: FONT, fontSize: 15 };

const PANEL = { width: 560, height: 440 };
const GAP = 44;
const TOP = 126;
const WIDTH = 3 * PANEL.width + 4 * GAP;
const HEIGHT = TOP + PANEL.height + GAP;
/** Pixels of the file for one of the drawing. */
const SCALE = 1.5;

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const shortened = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

async function drawn(option: EChartsOption): Promise<string> {
  const { init } = await import('echarts');
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...PANEL });
  try {
    chart.setOption(option);
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

interface Panel {
  title: string;
  /** undefined: nothing to draw, and why. */
  option: EChartsOption | undefined;
  missing: string;
}

function panelsOf(data: RunData): Panel[] {
  const result = resultChart(data.result.lines);
  const training = trainingChart(data);
  const tools = toolPanel(data);
  const line = (chart: typeof training) => (isDrawn(chart) ? lineChartOption(chart, THEME, PANEL.width) : undefined);
  return [
    {
      title: result.measure === 'pass@1' ? 'pass@1 before and after' : 'Mean reward before and after',
      option: result.bars.length > 0 ? resultChartOption(result, THEME) : undefined,
      missing: 'no evaluation',
    },
    { title: 'Training', option: line(training), missing: 'no step yet' },
    { title: 'Tool selection', option: line(tools), missing: 'no tools' },
  ];
}

const text = (content: string, x: number, y: number, size: number, style: string) =>
  `<text x="${x}" y="${y}" font-family="${FONT}" font-size="${size}" ${style}>${escaped(content)}</text>`;

async function panelSvg(panel: Panel, index: number): Promise<string> {
  const x = GAP + index * (PANEL.width + GAP);
  const title = text(panel.title, x, TOP - 20, 21, `font-weight="700" fill="${THEME.text}"`);
  if (panel.option === undefined) {
    const middle = `text-anchor="middle" fill="${THEME.muted}"`;
    return title + text(panel.missing, x + PANEL.width / 2, TOP + PANEL.height / 2, 18, middle);
  }
  const svg = await drawn(panel.option);
  return title + svg.replace('<svg ', `<svg x="${x}" y="${TOP}" `);
}

/** The three panels of a run as SVG: results, training, tool selection. */
export async function pictureSvg(data: RunData): Promise<string> {
  const { run } = data;
  const panels = [];
  for (const [index, panel] of panelsOf(data).entries()) panels.push(await panelSvg(panel, index));
  const steps = `${run.stepsDone} step${run.stepsDone === 1 ? '' : 's'}`;
  const facts = [run.model, run.environment, steps].filter((fact) => fact !== null).join('  ·  ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${THEME.background}"/>`,
    text(shortened(run.name, 70), GAP, 46, 26, `font-weight="700" fill="${THEME.text}"`),
    text(shortened(facts, 120), WIDTH - GAP, 46, 18, `text-anchor="end" fill="${THEME.muted}"`),
    ...panels,
    '</svg>',
  ].join('\n');
}

/** The picture of a run as PNG; letters come from a font of the package, so that none has to be installed. */
export async function picturePng(data: RunData): Promise<Buffer> {
  const { Resvg } = await import('@resvg/resvg-js');
  const { resolve } = createRequire(import.meta.url);
  const fontFiles = FONT_FILES.map((file) => resolve(`@expo-google-fonts/inter/${file}`));
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: FONT, sansSerifFamily: FONT };
  const image = new Resvg(await pictureSvg(data), { font, fitTo: { mode: 'width', value: WIDTH * SCALE } }).render();
  return image.asPng();
}
