import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { trainedTokens } from '../../algorithms/index.js';
import type { Message } from '../../environments/types.js';
import { GrpoError } from '../../errors.js';
import type { ChatTemplateOptions, Tokenizer } from '../../tokenizer/types.js';

/** One row to learn. T = ids.length. */
export interface SftRow {
  /** (T) */
  ids: Int32Array;
  /** (T) 1 = learned. */
  mask: Uint8Array;
}

/** What a file gave. */
export interface SftRows {
  rows: SftRow[];
  /** Reason -> lines that were left out for it. */
  leftOut: Record<string, number>;
}

export interface SftRowOptions {
  tokenizer: Tokenizer | undefined;
  /** Tokens of a row at most; a longer one is left out. */
  maxContext: number;
  /** Only trajectories with at least this reward. */
  minReward?: number;
}

type Line = Record<string, unknown>;

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((entry) => Number.isInteger(entry) && (entry as number) >= 0);

function readIds(line: Line, fail: (message: string) => never): SftRow {
  const { ids, mask } = line;
  if (!isNumbers(ids)) return fail('ids must be a list of token ids');
  if (!isNumbers(mask) || mask.some((bit) => bit > 1)) return fail('mask must be a list of 0 and 1, one a token');
  if (mask.length !== ids.length) return fail(`mask has ${mask.length} entries for ${ids.length} ids`);
  return { ids: Int32Array.from(ids), mask: Uint8Array.from(mask) };
}

function readMessages(line: Line, tokenizer: Tokenizer | undefined, fail: (message: string) => never): SftRow {
  const { messages, tools } = line;
  const isMessage = (entry: unknown) => typeof (entry as Message | null)?.role === 'string';
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    return fail('it must hold messages (each with a role and a content), or ids and mask');
  }
  if (tools !== undefined && !Array.isArray(tools)) return fail('tools must be a list');
  if (!tokenizer?.hasChatTemplate) return fail('messages need a model folder with a tokenizer and a chat template');
  const given = tools === undefined ? {} : { tools: tools as ChatTemplateOptions['tools'] };
  try {
    return tokenizer.encodeConversation(messages as Message[], given);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** Why a line teaches nothing; undefined where it does. */
function unfit(line: Line, row: SftRow, options: SftRowOptions): string | undefined {
  if (typeof line['invalid'] === 'string') return 'invalid episode';
  if (options.minReward !== undefined) {
    const value = (line['reward'] as { value?: unknown } | null | undefined)?.value;
    if (typeof value !== 'number') return 'no reward';
    if (value < options.minReward) return `reward below ${options.minReward}`;
  }
  if (row.ids.length > options.maxContext) return `longer than the context of ${options.maxContext}`;
  return trainedTokens(row.mask) === 0 ? 'nothing that an assistant wrote' : undefined;
}

async function* readLines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const input = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  file.on('error', (error) => input.destroy(error));
  yield* createInterface({ input, crlfDelay: Infinity });
}

/**
 * Rows to learn from a JSONL file. Observations, system and user text get mask 0.
 *
 * @throws {GrpoError} INVALID_TASKS naming the line that cannot be read, or when nothing is left; IO_FAILED
 */
export async function readSftRows(path: string, options: SftRowOptions): Promise<SftRows> {
  const found: SftRows = { rows: [], leftOut: {} };
  let number = 0;
  const fail = (message: string): never => {
    throw new GrpoError('INVALID_TASKS', 'sft', `${path}:${number}: ${message}`);
  };
  try {
    for await (const text of readLines(path)) {
      number++;
      if (text.trim() === '') continue;
      let line: Line;
      try {
        line = JSON.parse(text) as Line;
      } catch {
        fail('it is not JSON');
        continue;
      }
      const row = 'ids' in line ? readIds(line, fail) : readMessages(line, options.tokenizer, fail);
      const reason = unfit(line, row, options);
      if (reason === undefined) found.rows.push(row);
      else found.leftOut[reason] = (found.leftOut[reason] ?? 0) + 1;
    }
  } catch (error) {
    if (error instanceof GrpoError) throw error;
    throw new GrpoError('IO_FAILED', 'sft', `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (found.rows.length > 0) return found;
  const told = Object.entries(found.leftOut).map(([reason, times]) => `${times} x ${reason}`);
  throw new GrpoError('INVALID_TASKS', 'sft', `${path} has no row to learn from: ${told.join('; ') || 'it is empty'}`);
}

/** Digest of rows and their order: what the data cursor counts in. */
export function rowsDigest(rows: readonly SftRow[]): string {
  const hash = createHash('sha256');
  for (const { ids, mask } of rows) hash.update(`${ids.length};`).update(ids).update(mask);
  return hash.digest('hex');
}
