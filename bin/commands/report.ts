import type { Argv } from 'yargs';
import { onInterrupt } from '../interrupt.js';
import { UsageError } from '../usage-error.js';
import { wholeNumber } from '../whole-number.js';

export const command = 'report <runs..>';
export const describe = "draw a run's page and picture, serve it, or compare runs";

export function builder(yargs: Argv): Argv {
  return yargs
    .positional('runs', {
      type: 'string',
      array: true,
      demandOption: true,
      describe: "a run's folder; two or more to compare",
    })
    .option('serve', {
      type: 'boolean',
      describe: 'serve the page on 127.0.0.1: it follows the run, and shows every episode',
    })
    .option('port', wholeNumber('port', 0, 'port of --serve; any that is free by default', 65_535))
    .option('open', { type: 'boolean', describe: 'with --serve: open the page in a browser' })
    .option('output', { type: 'string', requiresArg: true, describe: 'page of a comparison [default comparison.html]' })
    .option('force', { type: 'boolean', describe: 'replace an existing page of a comparison' })
    .example('$0 report runs/a', 'writes report.html and report.png into the folder')
    .example('$0 report runs/a runs/b', 'compares two runs: comparison.html');
}

const write = (text: string) => void process.stdout.write(`${text}\n`);

async function draw(run: string): Promise<void> {
  const { readRun, runTable, stepLine } = await import('../../lib/run/index.js');
  const { writeReport } = await import('../../lib/report/index.js');
  const logs = await readRun(run);
  const steps = logs.metrics.at(-1)?.step ?? 0;
  // A run of sft has no episodes: its lines are in the page alone.
  const lines = logs.metrics.filter((line) => line.rollout_seconds !== undefined).map((line) => stepLine(line, steps));
  if (lines.length > 0 || logs.metrics.length === 0) write([...lines, '', runTable(logs), ''].join('\n'));
  const { html, png, episodes } = await writeReport(run);
  const left = episodes.total - episodes.embedded;
  const some = left > 0 ? ` (${episodes.embedded} of ${episodes.total} episodes; --serve shows all)` : '';
  write(`${html}${some}\n${png}`);
}

async function serve(run: string, port: number, isOpened: boolean): Promise<void> {
  const { serveReport } = await import('../../lib/report/index.js');
  const { openBrowser } = await import('../open-browser.js');
  const served = await serveReport(run, { port });
  write(`${run} at ${served.address} until Ctrl-C`);
  if (isOpened) await openBrowser(served.address);
  const interruption = onInterrupt(() => 'stopping');
  await new Promise((settle) => interruption.stop.addEventListener('abort', settle));
  await served.close();
  interruption.dispose();
}

async function compare(runs: string[], args: Record<string, unknown>): Promise<void> {
  const { compareRuns } = await import('../../lib/report/index.js');
  const output = args['output'] as string | undefined;
  const { text, html } = await compareRuns(runs, { output, force: args['force'] === true });
  write(`${text}\n\n${html}`);
}

/** Options that say nothing in this form of the command are wrong usage. */
function refuse(args: Record<string, unknown>, names: string[], why: string): void {
  const name = names.find((one) => args[one] !== undefined);
  if (name !== undefined) throw new UsageError(`--${name} ${why}`);
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const runs = (args['runs'] as unknown[]).map(String);
  if (runs.length > 1) {
    refuse(args, ['serve', 'port', 'open'], 'takes one run; a comparison is a page of its own');
    return compare(runs, args);
  }
  refuse(args, ['output', 'force'], 'belongs to a comparison of several runs');
  if (args['serve'] === true) return serve(runs[0] as string, Number(args['port'] ?? 0), args['open'] === true);
  refuse(args, ['port', 'open'], 'needs --serve');
  return draw(runs[0] as string);
}
