import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SYLLABLES } from '../../lib/environments/demo/index.js';

/** ChatML; the first is what a turn ends with. */
const ADDED = ['<|im_end|>', '<|im_start|>'];
const TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** How a byte-level tokenizer cuts text before it looks words up (Radford et al. 2019, GPT-2). */
const WORD = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Bytes as the printable characters that byte-level vocabularies are written in (Radford et al. 2019, GPT-2). */
function byteCharacters(): string[] {
  const isPrintable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++));
}

const CHARACTERS = byteCharacters();
const written = (text: string) => [...Buffer.from(text, 'utf8')].map((byte) => CHARACTERS[byte]).join('');

/** Every word of the texts that is no invented name, most frequent first. */
function commonWords(texts: Iterable<string>, isName: (word: string) => boolean): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.matchAll(WORD)) {
      if (!isName(word.trim())) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .map(([word]) => word)
    .filter((word) => written(word).length > 1);
}

/**
 * Writes a byte-level BPE tokenizer: a token for every byte, every syllable, every syllable after a space, and every other
 * word of the texts. Any text can be encoded.
 *
 * @returns the number of tokens
 */
export async function writeTokenizer(folder: string, texts: Iterable<string>): Promise<number> {
  const syllables = new Set(SYLLABLES);
  const isName = (word: string) => word.length === 4 && syllables.has(word.slice(0, 2)) && syllables.has(word.slice(2));
  const space = written(' ');
  const tokens = new Set(CHARACTERS);
  const merges: [string, string][] = [];
  for (const syllable of SYLLABLES) {
    merges.push([syllable[0]!, syllable[1]!]);
    tokens.add(syllable);
  }
  for (const syllable of SYLLABLES) {
    merges.push([space, syllable]);
    tokens.add(space + syllable);
  }
  commonWords(texts, isName).forEach((word) => tokens.add(written(word)));
  const vocab = Object.fromEntries([...tokens].map((token, id) => [token, id]));
  const added = ADDED.map((content, index) => ({
    id: tokens.size + index,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: true,
      vocab,
      merges,
    },
  };
  const settings = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    eos_token: ADDED[0],
    chat_template: TEMPLATE,
    clean_up_tokenization_spaces: false,
  };
  await writeFile(join(folder, 'tokenizer.json'), `${JSON.stringify(tokenizer)}\n`);
  await writeFile(join(folder, 'tokenizer_config.json'), `${JSON.stringify(settings, undefined, 2)}\n`);
  return tokens.size + added.length;
}
