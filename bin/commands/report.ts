import type { Argv } from 'yargs';

export const command = 'report <run>';
export const describe = "show a run's steps and its before/after table";

export function builder(yargs: Argv): Argv {
  return yargs.positional('run', { type: 'string', demandOption: true, describe: "the run's folder" });
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const { readRun, runTable, stepLine } = await import('../../lib/run/index.js');
  const logs = await readRun(String(args['run']));
  const steps = logs.metrics.at(-1)?.step ?? 0;
  const lines = logs.metrics.map((metrics) => stepLine(metrics, steps));
  process.stdout.write(`${[...lines, '', runTable(logs)].join('\n')}\n`);
}
