import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Table from 'cli-table3';
import { GrpoError } from '../errors.js';
import { replaceFile } from '../model/durable-write.js';
import { readRun } from '../run/index.js';
import { cellText, comparisonColumns } from './comparison-columns.js';
import { curvesOf } from './curves.js';
import { renderPage } from './page.js';
import { headOf, MOST_ENTRIES, readRunConfig } from './run-data.js';
import { resultOf } from './result-lines.js';
import type { ComparedRun } from './types.js';

/** Runs side by side. */
export interface Comparison {
  /** The page that was written. */
  html: string;
  /** The same in letters, for a terminal. */
  text: string;
}

const MOST_EVALUATIONS = 400;

async function comparedRun(folder: string, others: readonly string[]): Promise<ComparedRun> {
  const config = await readRunConfig(folder);
  const logs = await readRun(folder);
  const run = headOf(folder, config, logs);
  // Two folders may have one name.
  const isUnique = others.filter((other) => resolve(other).endsWith(`/${run.name}`)).length < 2;
  return {
    name: isUnique ? run.name : folder,
    data: {
      run,
      metrics: curvesOf(logs.metrics, MOST_ENTRIES / Math.max(1, others.length / 4)),
      evaluations: logs.evaluations.slice(-MOST_EVALUATIONS),
      result: resultOf(logs.evaluations),
    },
  };
}

/** A table with one column a run: few runs fit a narrow terminal, whatever their numbers. */
export function comparisonText(runs: readonly ComparedRun[]): string {
  const lines = comparisonColumns.filter(({ value }) => runs.some((run) => value(run) !== null));
  const table = new Table({
    head: ['', ...runs.map(({ name }) => name)],
    colAligns: ['left', ...runs.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const line of lines) table.push([line.name, ...runs.map((run) => cellText(line, run))]);
  return table.toString();
}

/**
 * Compares runs: a page with their curves over one another and a table, and the table as text.
 *
 * @param folders two runs or more
 * @param options `output`: the page's path, `comparison.html` by default; `force`: replace what is there
 * @throws {GrpoError} INVALID_ARGUMENT for fewer than two runs or the same one twice, RUN_EXISTS where the page is there
 *   already, RUN_INVALID, IO_FAILED
 */
export async function compareRuns(
  folders: readonly string[],
  { output = 'comparison.html', force = false }: { output?: string; force?: boolean } = {},
): Promise<Comparison> {
  const twice = folders.find((folder, index) => folders.map((one) => resolve(one)).indexOf(resolve(folder)) !== index);
  if (folders.length < 2 || twice !== undefined) {
    const found = twice === undefined ? `${folders.length} given` : `${twice} is given twice`;
    throw new GrpoError('INVALID_ARGUMENT', 'report', `a comparison needs two different runs or more: ${found}`);
  }
  const html = resolve(output);
  if (existsSync(html) && !force) {
    const message = `${output} exists already; choose another --output, or --force to replace it`;
    throw new GrpoError('RUN_EXISTS', 'report', message);
  }
  const runs: ComparedRun[] = [];
  for (const folder of folders) runs.push(await comparedRun(folder, folders));
  const page = await renderPage({ title: `${runs.length} runs`, entry: 'comparison-page', data: runs });
  await replaceFile(html, (handle) => handle.writeFile(page));
  return { html, text: comparisonText(runs) };
}
