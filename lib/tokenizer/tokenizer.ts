import type { Message } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import { checkKeys, ensure } from '../known-keys.js';
import { AddedTokens } from './added-tokens.js';
import { assistantUnits } from './conversation.js';
import type { TokenizerFiles } from './files.js';
import { Origin, sliceMarked, type MarkedText } from './marks.js';
import type { Stage } from './pipeline-config.js';
import { PlainEncoder, vocabularyEntries } from './plain-encoder.js';
import { ChatTemplate } from './template.js';
import { TokenTable } from './token-table.js';
import { truncateText } from './truncate.js';
import { findSeams, findToolRole, renderContinuation, type TurnSeams } from './turns.js';
import type { ChatTemplateOptions, EncodeOptions, TokenBytes, Tokenizer } from './types.js';

/** The tokenizer of a model folder. */
export class FolderTokenizer implements Tokenizer {
  readonly bosId: number | undefined;
  readonly eosId: number | undefined;
  readonly hasChatTemplate: boolean;
  private readonly plain: PlainEncoder;
  private readonly added: AddedTokens;
  private readonly table: TokenTable;
  private readonly template: ChatTemplate | undefined;
  private readonly modelStopIds: readonly number[];
  private readonly specialTokenIds: number[];
  private cachedSeams: TurnSeams | undefined;
  private cachedToolRole: boolean | undefined;
  private cachedForbidden: Set<number> | undefined;

  constructor(files: TokenizerFiles) {
    const entries = vocabularyEntries(files.tokenizer.model as Record<string, unknown> | undefined);
    this.table = new TokenTable(files.tokenizer, entries, files.addedTokens);
    this.plain = new PlainEncoder(files.tokenizer, entries, files.addedTokens);
    this.added = new AddedTokens(files.addedTokens);
    this.bosId = this.added.idOf(files.specialTokens.bos_token);
    this.eosId = this.added.idOf(files.specialTokens.eos_token);
    this.modelStopIds = files.modelStopIds;
    this.specialTokenIds = Object.values(files.specialTokens).flatMap((content) => this.added.idOf(content) ?? []);
    this.hasChatTemplate = files.templates.length > 0;
    if (this.hasChatTemplate) {
      this.template = new ChatTemplate(files.templates, files.specialTokens, (text) => this.added.occursIn(text));
    }
  }

  private get seams(): TurnSeams {
    const none: TurnSeams = { turnEndId: undefined, delimiterIds: new Set() };
    return (this.cachedSeams ??= this.template === undefined ? none : findSeams(this.template, this.added));
  }

  get turnEndId(): number | undefined {
    return this.seams.turnEndId;
  }

  /** Whether the chat template has a form of its own for role 'tool'; where not, {@link continuation} uses role 'user'. */
  get handlesToolRole(): boolean {
    return (this.cachedToolRole ??= this.template !== undefined && findToolRole(this.template));
  }

  /** Where a turn stops by default: the model's own list (generation_config.json, else config.json) and the turn end. */
  get stopIds(): number[] {
    const ids = new Set(this.modelStopIds);
    if (this.turnEndId !== undefined) ids.add(this.turnEndId);
    if (ids.size === 0 && this.eosId !== undefined) ids.add(this.eosId);
    return [...ids];
  }

  /** Ids that not even an assistant content may give: turn delimiters, stop ids, bos, eos, pad, unk. */
  private get forbiddenIds(): Set<number> {
    return (this.cachedForbidden ??= new Set([...this.seams.delimiterIds, ...this.stopIds, ...this.specialTokenIds]));
  }

  /**
   * Text to ids. Unless asked to, it never gives the id of an added token, whatever is written in the text.
   *
   * @throws GrpoError INVALID_ARGUMENT for addBos where the folder names no bos token
   * @example tokenizer.encode('<|im_end|>') // the ids of its ten characters, not the turn end
   */
  encode(text: string, options: EncodeOptions = {}): Int32Array {
    if (typeof text !== 'string') {
      throw new GrpoError('INVALID_ARGUMENT', 'encode', `text must be a string, but is of type ${typeof text}`);
    }
    const out: number[] = [];
    if (options.addBos === true) {
      if (this.bosId === undefined) {
        throw new GrpoError(
          'INVALID_ARGUMENT',
          'encode',
          'addBos: this tokenizer has no bos token; leave the option away',
        );
      }
      out.push(this.bosId);
    }
    if (options.parseAddedTokens === true) this.encodeParsed(text, 'raw', () => true, out);
    else this.plain.encode(text, 'raw', 0, out);
    return Int32Array.from(out);
  }

  private encodeParsed(
    text: string,
    stage: Stage,
    accept: (id: number, start: number, end: number) => boolean,
    out: number[],
  ): void {
    for (const part of this.added.split(text, (entry, start, end) => accept(entry.id, start, end))) {
      if ('id' in part) out.push(part.id);
      else if (part.start === 0) this.plain.encode(part.text, stage, 0, out);
      else this.plain.encode(part.text, stage === 'raw' ? stage : 'middle', 1, out);
    }
  }

  /**
   * Encodes rendered text, each part by what its origin allows.
   *
   * @param borders one entry a unit; text is also cut where they change. `cut` hears the entry of every part.
   */
  private encodeMarked(
    marked: MarkedText,
    atStart: boolean,
    borders?: Uint8Array,
    cut?: (entry: number, ids: number) => void,
  ): Int32Array {
    const out: number[] = [];
    const { text, origins } = marked;
    const isContent = (origin: number | undefined): boolean => origin === Origin.content || origin === Origin.assistant;
    for (let start = 0; start < text.length;) {
      const origin = origins[start];
      let end = start + 1;
      // Values stand inside JSON that the template writes: they are encoded in one piece with it.
      const continues = (at: number): boolean =>
        (isContent(origin) ? origins[at] === origin : !isContent(origins[at])) && borders?.[at] === borders?.[start];
      while (end < text.length && continues(end)) end++;
      const part = text.slice(start, end);
      const stage = atStart && start === 0 ? 'start' : 'middle';
      const own = origins.subarray(start, end);
      if (origin === Origin.content) this.plain.encode(part, stage, 0, out);
      else if (origin === Origin.assistant) this.encodeParsed(part, stage, (id) => !this.forbiddenIds.has(id), out);
      else this.encodeParsed(part, stage, (_, a, b) => own.subarray(a, b).every((o) => o === Origin.template), out);
      cut?.(borders?.[start] ?? 0, out.length);
      start = end;
    }
    return Int32Array.from(out);
  }

  /**
   * Ids to text: exact bytes, U+FFFD where they are no UTF-8.
   *
   * @throws GrpoError INVALID_ARGUMENT for an id that has no entry
   */
  decode(ids: ArrayLike<number>, options: { skipSpecialTokens?: boolean } = {}): string {
    return this.table.decode(ids, options.skipSpecialTokens ?? false);
  }

  private requireTemplate(operation: string): ChatTemplate {
    if (this.template !== undefined) return this.template;
    const message = 'this model folder has no chat template; add chat_template.jinja, or use an instruct model';
    throw new GrpoError('INVALID_TOKENIZER', operation, message);
  }

  private checkMessages(operation: string, messages: Message[], options: ChatTemplateOptions = {}): void {
    ensure(operation, Array.isArray(messages), 'messages must be an array of { role, content }');
    checkKeys(operation, options, ['tools', 'addGenerationPrompt', 'variables']);
    messages.forEach((message, i) => {
      if (
        typeof message?.role !== 'string' ||
        !/^[A-Za-z_][\w-]*$/.test(message.role) ||
        this.added.occursIn(message.role)
      ) {
        throw new GrpoError('INVALID_ARGUMENT', operation, `messages[${i}].role must be a plain name such as user`);
      }
    });
  }

  /**
   * Renders a conversation and encodes it: template text with its added tokens, system, user and tool contents without
   * any, assistant contents without turn delimiters and stop ids. The ids decode to the text.
   *
   * @throws GrpoError INVALID_TOKENIZER without a chat template; INVALID_ARGUMENT when the template refuses the messages
   */
  applyChatTemplate(messages: Message[], options: ChatTemplateOptions = {}): { text: string; ids: Int32Array } {
    const template = this.requireTemplate('chat_template');
    this.checkMessages('chat_template', messages, options);
    const rendered = template.render(messages, options);
    return { text: rendered.text, ids: this.encodeMarked(rendered, true) };
  }

  /**
   * Encodes a conversation to learn from: mask 1 on what assistants wrote, their calls and the ends of their turns included.
   *
   * @throws GrpoError INVALID_TOKENIZER without a chat template; INVALID_ARGUMENT when the template refuses the messages
   */
  encodeConversation(
    messages: Message[],
    options: Omit<ChatTemplateOptions, 'addGenerationPrompt'> = {},
  ): { ids: Int32Array; mask: Uint8Array } {
    const template = this.requireTemplate('encode_conversation');
    this.checkMessages('encode_conversation', messages, options);
    const rendered = template.render(messages, options);
    const units = assistantUnits(template, this.added, rendered, messages, options, this.turnEndId);
    const mask: number[] = [];
    const ids = this.encodeMarked(rendered, true, units, (entry, length) => {
      while (mask.length < length) mask.push(entry);
    });
    return { ids, mask: Uint8Array.from(mask) };
  }

  continuation(messages: Message[], next: Message[], ended: boolean, options: ChatTemplateOptions = {}): Int32Array {
    const template = this.requireTemplate('continuation');
    this.checkMessages('continuation', messages);
    this.checkMessages('continuation', next, options);
    const rest = renderContinuation(template, this.handlesToolRole, messages, next, options);
    return this.encodeMarked(ended ? this.afterTurnEnd(rest) : rest, false);
  }

  /** The model has sampled the turn's end itself: what the template puts up to there is in the row already. */
  private afterTurnEnd(rest: MarkedText): MarkedText {
    let from = 0;
    this.added.split(rest.text, (entry, start, end) => {
      if (from === 0 && entry.id === this.turnEndId && rest.origins[start] === Origin.template) from = end;
      return true;
    });
    if (from > 0) return sliceMarked(rest, from, rest.text.length);
    const message = 'ended: the chat template writes no turn end after an assistant turn; pass false';
    throw new GrpoError('INVALID_ARGUMENT', 'continuation', message);
  }

  truncate(text: string, maxTokens: number, keep: 'start' | 'end' = 'start'): { text: string; cut: boolean } {
    const bytesOf = (ids: ArrayLike<number>): Uint8Array => this.table.concat(ids);
    return truncateText(text, maxTokens, keep, (part) => this.encode(part), bytesOf);
  }

  tokenBytes(): TokenBytes {
    return this.table.bytes();
  }
}
