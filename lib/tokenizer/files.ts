import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GrpoError } from '../errors.js';

/** One entry of the added vocabulary. */
export interface AddedTokenEntry {
  id: number;
  content: string;
  special: boolean;
  singleWord: boolean;
}

/** A chat template and the name it goes by ('default' unless the folder names several). */
export interface NamedTemplate {
  name: string;
  template: string;
}

/** Everything of a model folder that a tokenizer is made of. */
export interface TokenizerFiles {
  folder: string;
  /** tokenizer.json as parsed. */
  tokenizer: Record<string, unknown>;
  addedTokens: AddedTokenEntry[];
  templates: NamedTemplate[];
  /** bos_token, eos_token, pad_token, … as text. */
  specialTokens: Record<string, string>;
  /** eos ids of generation_config.json, else of config.json. */
  modelStopIds: number[];
}

type Json = Record<string, unknown>;

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new GrpoError('IO_FAILED', 'tokenizer', `could not read ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function readObject(path: string): Promise<Json | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const detail = (error as Error).message;
    throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', `${path} is not valid JSON (${detail}); fetch it again`, {
      cause: error,
    });
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', `${path} must hold a JSON object; fetch it again`);
  }
  return value as Json;
}

/** The message for a folder without tokenizer.json: what to run depends on what is there instead. */
async function missingMessage(folder: string): Promise<string> {
  const make = `python3 -c "from transformers import AutoTokenizer as T; T.from_pretrained('${folder}').save_pretrained('${folder}')"`;
  for (const other of ['tokenizer.model', 'vocab.json', 'spiece.model', 'vocab.txt']) {
    if ((await readText(join(folder, other))) !== undefined) {
      return `${folder} has ${other} but no tokenizer.json; make it once with: ${make}`;
    }
  }
  return `${folder} has no tokenizer.json; copy the one of the model it came from into this folder`;
}

function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : undefined;
}

function addedEntry(id: unknown, raw: Json): AddedTokenEntry | undefined {
  const number = Number(id);
  if (!Number.isInteger(number) || number < 0 || typeof raw.content !== 'string' || raw.content === '')
    return undefined;
  return { id: number, content: raw.content, special: raw.special === true, singleWord: raw.single_word === true };
}

/** tokenizer.json's added tokens, then those only tokenizer_config.json knows (transformers adds them too). */
function collectAdded(tokenizer: Json, config: Json, path: string): AddedTokenEntry[] {
  const byId = new Map<number, AddedTokenEntry>();
  const list = tokenizer.added_tokens ?? [];
  if (!Array.isArray(list))
    throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', `${path}: added_tokens must be a list`);
  for (const raw of list as Json[]) {
    const entry = addedEntry(raw?.id, raw ?? {});
    if (entry === undefined) {
      throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', `${path}: an added token needs an id and a content`);
    }
    byId.set(entry.id, entry);
  }
  for (const [id, raw] of Object.entries((config.added_tokens_decoder as Record<string, Json> | undefined) ?? {})) {
    const entry = addedEntry(id, raw);
    if (entry !== undefined && !byId.has(entry.id)) byId.set(entry.id, entry);
  }
  return [...byId.values()];
}

function namedTemplates(value: unknown): NamedTemplate[] {
  if (typeof value === 'string') return [{ name: 'default', template: value }];
  if (Array.isArray(value))
    return (value as Json[]).map((t) => ({ name: String(t.name), template: String(t.template) }));
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).map(([name, template]) => ({ name, template: String(template) }));
  }
  return [];
}

function idList(value: unknown): number[] {
  return (Array.isArray(value) ? value : [value]).filter((id): id is number => Number.isInteger(id));
}

/** Eos ids of generation_config.json, of config.json where that names none. */
export async function readStopIds(folder: string): Promise<number[]> {
  const generation = await readObject(join(folder, 'generation_config.json'));
  const listed = idList(generation?.eos_token_id);
  if (listed.length > 0) return listed;
  const config = await readObject(join(folder, 'config.json'));
  const text = config?.text_config as Json | undefined;
  return idList(config?.eos_token_id ?? text?.eos_token_id);
}

/**
 * Reads what a tokenizer needs from a model folder; undefined where there is no tokenizer.json.
 *
 * @throws GrpoError INVALID_TOKENIZER for files that do not parse
 */
export async function readTokenizerFiles(folder: string): Promise<TokenizerFiles | undefined> {
  const path = join(folder, 'tokenizer.json');
  const tokenizer = await readObject(path);
  if (tokenizer === undefined) return undefined;
  const config = (await readObject(join(folder, 'tokenizer_config.json'))) ?? {};
  const map = (await readObject(join(folder, 'special_tokens_map.json'))) ?? {};
  const specialTokens: Record<string, string> = {};
  for (const source of [map, config]) {
    for (const [key, value] of Object.entries(source)) {
      const text = key.endsWith('_token') ? tokenText(value) : undefined;
      if (text !== undefined) specialTokens[key] = text;
    }
  }
  const jinja = await readText(join(folder, 'chat_template.jinja'));
  const json = await readObject(join(folder, 'chat_template.json'));
  return {
    folder,
    tokenizer,
    addedTokens: collectAdded(tokenizer, config, path),
    templates: namedTemplates(jinja ?? json?.chat_template ?? config.chat_template),
    specialTokens,
    modelStopIds: await readStopIds(folder),
  };
}

/** As {@link readTokenizerFiles}, but a folder without tokenizer.json is an error that says how to get one. */
export async function requireTokenizerFiles(folder: string): Promise<TokenizerFiles> {
  const files = await readTokenizerFiles(folder);
  if (files === undefined) throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', await missingMessage(folder));
  return files;
}
