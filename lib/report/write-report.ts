import { join } from 'node:path';
import { GrpoError } from '../errors.js';
import { replaceFile } from '../model/durable-write.js';
import type { TokenBytes, Tokenizer } from '../tokenizer/types.js';
import { embeddedRun } from './embedded-run.js';
import { pageFrameBytes, renderPage } from './page.js';
import { picturePng } from './picture.js';
import { readRunConfig, runData, runTokens } from './run-data.js';
import { TrajectoryIndex } from './trajectory-index.js';
import type { RunData } from './types.js';

/** Bytes of `report.html` at most, however long the run is. */
export const MOST_PAGE_BYTES = 10_000_000;

export interface ReportOptions {
  /** Gives the texts of tokens. @default the tokenizer of the run's model */
  tokenizer?: Pick<Tokenizer, 'tokenBytes'>;
}

/** Files of a report. */
export interface WrittenReport {
  html: string;
  png: string;
  /** Episodes of the run, and those of them that the page holds. */
  episodes: { total: number; embedded: number };
}

/** Adds to the notes why token texts are missing. */
export async function tokensOf(
  folder: string,
  data: RunData,
  { tokenizer }: ReportOptions,
): Promise<TokenBytes | undefined> {
  if (tokenizer) return tokenizer.tokenBytes();
  const tokens = data.episodes.total > 0 ? await runTokens(await readRunConfig(folder)) : 'no episode';
  if (typeof tokens !== 'string') return tokens;
  if (data.episodes.total > 0) data.notes.push(`Episodes are shown without single tokens: ${tokens}.`);
  return undefined;
}

/**
 * Writes `report.html` and `report.png` of a run into its folder; both are replaced. The page holds all it needs, in at most
 * 10 MB; the trajectories are read line by line.
 *
 * @param run the run's folder, finished or not
 * @throws {GrpoError} RUN_INVALID where the folder holds no run or a broken line, IO_FAILED
 * @example
 * const { html, png } = await writeReport('runs/2026-03-04-SmolLM2');
 */
export async function writeReport(run: string, options: ReportOptions = {}): Promise<WrittenReport> {
  if (typeof run !== 'string' || run === '') {
    throw new GrpoError('INVALID_ARGUMENT', 'report', 'the folder of a run must be given');
  }
  await readRunConfig(run);
  const index = new TrajectoryIndex(run);
  await index.scan();
  const data = await runData(run, index);
  const tokens = await tokensOf(run, data, options);
  const page = { title: data.run.name, entry: 'run-page' } as const;
  const frame = await pageFrameBytes(page);
  const embedded = await embeddedRun(data, index, tokens, MOST_PAGE_BYTES - frame);
  const html = join(run, 'report.html');
  const png = join(run, 'report.png');
  const text = await renderPage({ ...page, data: embedded });
  await replaceFile(html, (handle) => handle.writeFile(text));
  const picture = await picturePng(data);
  await replaceFile(png, (handle) => handle.writeFile(picture));
  const held = embedded.groups.reduce((sum, { episodes }) => sum + episodes.length, 0);
  return { html, png, episodes: { total: data.episodes.total, embedded: held } };
}
