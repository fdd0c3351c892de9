/** Lines over a common axis, from 0 upwards. */
export interface LinePlot {
  title: string;
  /** What the axes count. */
  x: string;
  y: string;
  series: Record<string, [x: number, y: number][]>;
}

const WIDTH = 640;
const HEIGHT = 280;
const LEFT = 56;
const TOP = 32;
const BOTTOM = 36;
const RIGHT = 16;
const COLOURS = ['#1f6fb4', '#c0562b', '#3d8b4d'];

/** The next of 1, 2, 5, 10, 20 ... that is not smaller. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((factor) => factor * power >= value) ?? 10);
}

/** A plot as SVG text. */
export function linePlot({ title, x, y, series }: LinePlot): string {
  const points = Object.values(series).flat();
  const xMax = Math.max(...points.map((point) => point[0]));
  const yMax = roundUp(Math.max(...points.map((point) => point[1])));
  const across = (value: number) => (LEFT + ((WIDTH - LEFT - RIGHT) * value) / xMax).toFixed(1);
  const down = (value: number) => (HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / yMax).toFixed(1);
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const text = (at: [string, string], anchor: string, value: string | number, colour = '#444') =>
    `<text x="${at[0]}" y="${at[1]}" text-anchor="${anchor}" fill="${colour}">${value}</text>`;
  const rows = ticks.map(
    (tick) =>
      `<path d="M${LEFT} ${down(tick * yMax)}H${WIDTH - RIGHT}" stroke="#ddd"/>` +
      text([String(LEFT - 6), down(tick * yMax - yMax / 80)], 'end', tick * yMax),
  );
  const columns = ticks.map((tick) => text([across(tick * xMax), String(HEIGHT - 18)], 'middle', tick * xMax));
  const lines = Object.entries(series).map(([name, line], index) => {
    const colour = COLOURS[index % COLOURS.length];
    const path = line.map(([at, value]) => `${across(at)},${down(value)}`).join(' ');
    const last = line.at(-1) ?? [0, 0];
    const label = text(
      [String(WIDTH - RIGHT), String(Number(down(last[1])) - 6)],
      'end',
      `${name}: ${last[1]} ${y}`,
      colour,
    );
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>${label}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text([String(LEFT), '18'], 'start', `${title} (${y} by ${x})`, '#111'),
    ...rows,
    ...columns,
    ...lines,
    '</svg>\n',
  ].join('\n');
}
