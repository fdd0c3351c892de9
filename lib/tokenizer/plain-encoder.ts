import { GrpoError } from '../errors.js';
import { BytePairModel } from './bpe.js';
import { toByteAlphabet } from './byte-alphabet.js';
import { SequenceNormalizer, SequencePreTokenizer, Unigram, WordPiece } from './engines.js';
import type { Normalizer, PreTokenizer, UnigramModel, VocabularyModel } from './engines.js';
import type { AddedTokenEntry } from './files.js';
import { isSingleUnit, normalizerConfig, preTokenizerSteps, type Stage } from './pipeline-config.js';

type Json = Record<string, unknown>;

const CACHE_WORDS = 50_000;
const CACHE_WORD_LENGTH = 256;

/** Ids of one word (pre-token). */
type EncodeWord = (word: string) => number[];

/** Token text of every id of the vocabulary, added tokens apart. */
export function vocabularyEntries(model: Json | undefined): [string, number][] {
  const vocab = model?.vocab;
  if (Array.isArray(vocab)) return (vocab as [string, number][]).map(([token], id) => [token, id]);
  if (vocab === null || typeof vocab !== 'object') {
    throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', 'tokenizer.json has no model.vocab; fetch the file again');
  }
  return Object.entries(vocab as Record<string, number>);
}

/** Words by a model of the library, whose vocabulary no longer has the removed tokens. */
function libraryWords(model: VocabularyModel, removed: ReadonlySet<string>): EncodeWord {
  for (const token of removed) model.tokens_to_ids.delete(token);
  if ('trie' in model) {
    const unigram = model as UnigramModel;
    const Trie = unigram.trie.constructor as new () => UnigramModel['trie'];
    unigram.trie = new Trie();
    unigram.trie.extend(unigram.vocab.filter((token) => !removed.has(token)));
  }
  return (word) =>
    model._call([word]).map((token) => {
      const id = model.tokens_to_ids.get(token) ?? model.unk_token_id;
      if (id !== undefined) return id;
      const message = `${JSON.stringify(token)} has no entry in the vocabulary, which has no unknown token either`;
      throw new GrpoError('INVALID_TOKENIZER', 'encode', message);
    });
}

function wordLevel(config: Json): VocabularyModel {
  const ids = new Map(Object.entries(config.vocab as Record<string, number>));
  return { tokens_to_ids: ids, unk_token_id: ids.get(String(config.unk_token)), _call: (words) => words };
}

/**
 * Every added token is made unreachable from text: a vocabulary may hold its content as an ordinary entry, which whole-word
 * look-up (ignore_merges), a merge or a lattice could find.
 */
function createModel(config: Json, entries: [string, number][], addedTokens: AddedTokenEntry[]): EncodeWord {
  const added = new Set(addedTokens.map((token) => token.id));
  const removed = new Map(entries.filter(([token, id]) => added.has(id) && !isSingleUnit(token)));
  const tokens = new Set(removed.keys());
  const type = config.type ?? (Array.isArray(config.merges) ? 'BPE' : undefined);
  try {
    if (type === 'BPE') {
      const model = new BytePairModel(config, entries, new Set(removed.values()));
      return (word) => model.encode(word);
    }
    if (type === 'Unigram') return libraryWords(new Unigram(config, ''), tokens);
    if (type === 'WordPiece') return libraryWords(new WordPiece(config), tokens);
    if (type === 'WordLevel') return libraryWords(wordLevel(config), tokens);
  } catch (error) {
    if (error instanceof GrpoError) throw error;
    const message = `the model of tokenizer.json cannot be used: ${(error as Error).message}`;
    throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', message, { cause: error });
  }
  const message = `tokenizer.json has a model of type ${JSON.stringify(type)}; supported are BPE, Unigram, WordPiece, WordLevel`;
  throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', message);
}

interface Pipeline {
  normalizer: Normalizer | undefined;
  preTokenizer: PreTokenizer | undefined;
  /** Words are spelled in the byte alphabet last of all: only those that are not in the cache. */
  byteLevel: boolean;
  cache: Map<string, number[]>;
}

function createPipeline(tokenizer: Json, stage: Stage): Pipeline {
  const normalizer = normalizerConfig(tokenizer.normalizer as Json | null, stage);
  const { steps, byteLevel } = preTokenizerSteps(tokenizer.pre_tokenizer as Json | null, stage);
  try {
    return {
      normalizer:
        normalizer === null ? undefined : new SequenceNormalizer({ type: 'Sequence', normalizers: [normalizer] }),
      preTokenizer:
        steps.length === 0 ? undefined : new SequencePreTokenizer({ type: 'Sequence', pretokenizers: steps }),
      byteLevel,
      cache: new Map(),
    };
  } catch (error) {
    const message = `tokenizer.json cannot be used: ${(error as Error).message}`;
    throw new GrpoError('INVALID_TOKENIZER', 'tokenizer', message, { cause: error });
  }
}

/** Text to ids without any added token: no text whatever can make it give the id of one. */
export class PlainEncoder {
  private readonly encodeWord: EncodeWord;
  private readonly pipelines: Readonly<Record<Stage, Pipeline>>;

  /** @param entries the vocabulary, see {@link vocabularyEntries} */
  constructor(tokenizer: Json, entries: [string, number][], addedTokens: AddedTokenEntry[]) {
    this.encodeWord = createModel(tokenizer.model as Json, entries, addedTokens);
    this.pipelines = {
      raw: createPipeline(tokenizer, 'raw'),
      start: createPipeline(tokenizer, 'start'),
      middle: createPipeline(tokenizer, 'middle'),
    };
  }

  /**
   * Appends the ids of `text` to `out`.
   *
   * @param section 0 for the first text of a sequence: some tokenizers put a space before that one only
   */
  encode(text: string, stage: Stage, section: number, out: number[]): void {
    if (text === '') return;
    const { normalizer, preTokenizer, byteLevel, cache } = this.pipelines[stage];
    const normalized = normalizer === undefined ? text : normalizer.normalize(text);
    if (normalized === '') return;
    const options = { section_index: section };
    const words = preTokenizer === undefined ? [normalized] : preTokenizer.pre_tokenize_text(normalized, options);
    for (const word of words) {
      let ids = cache.get(word);
      if (ids === undefined) {
        ids = this.encodeWord(byteLevel ? toByteAlphabet(word) : word);
        if (word.length <= CACHE_WORD_LENGTH) {
          if (cache.size >= CACHE_WORDS) cache.clear();
          cache.set(word, ids);
        }
      }
      for (const id of ids) out.push(id);
    }
  }
}
