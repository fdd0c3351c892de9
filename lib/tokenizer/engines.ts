/**
 * The two libraries below are plain JavaScript whose type declarations do not resolve from an ES module; this file says
 * once what we use of them.
 */
import * as jinjaLibrary from '@huggingface/jinja';
import * as tokenizersLibrary from '@huggingface/tokenizers';

type Config = Record<string, unknown>;

/** A vocabulary model: words (pre-tokens) to token texts. */
export interface VocabularyModel {
  tokens_to_ids: Map<string, number>;
  unk_token_id?: number | undefined;
  _call(words: string[]): string[];
}

export interface UnigramModel extends VocabularyModel {
  vocab: string[];
  trie: { extend(tokens: string[]): void };
}

export interface Normalizer {
  normalize(text: string): string;
}

export interface PreTokenizer {
  pre_tokenize_text(text: string, options: { section_index: number }): string[];
}

export interface TokenDecoder {
  decode(tokens: string[]): string;
}

interface TokenizersLibrary {
  Unigram: new (config: Config, eosToken: string) => UnigramModel;
  WordPiece: new (config: Config) => VocabularyModel;
  SequenceNormalizer: new (config: Config) => Normalizer;
  SequencePreTokenizer: new (config: Config) => PreTokenizer;
  SequenceDecoder: new (config: Config) => TokenDecoder;
}

/** A value while a template runs; what `value` is depends on `type`. */
export interface TemplateValue {
  type: string;
  value: unknown;
  builtins: ReadonlyMap<string, TemplateValue>;
}

/** The variables a template sees. */
export interface TemplateEnvironment {
  /** Converts a JavaScript value and binds it. */
  set(name: string, value: unknown): TemplateValue;
  setVariable(name: string, value: TemplateValue): TemplateValue;
}

/** A parsed template. */
export interface TemplateProgram {
  type: string;
  [key: string]: unknown;
}

interface JinjaLibrary {
  Environment: new () => TemplateEnvironment;
  Interpreter: new (environment: TemplateEnvironment) => { run(program: TemplateProgram): TemplateValue };
  tokenize: (source: string, options: { lstrip_blocks: boolean; trim_blocks: boolean }) => unknown[];
  parse: (tokens: unknown[]) => TemplateProgram;
}

export const { Unigram, WordPiece, SequenceNormalizer, SequencePreTokenizer, SequenceDecoder } =
  tokenizersLibrary as unknown as TokenizersLibrary;

export const { Environment, Interpreter, tokenize, parse } = jinjaLibrary as unknown as JinjaLibrary;
