import type { JsonSchema, Message } from '../environments/types.js';

export interface EncodeOptions {
  /** Let added tokens written in the text become their ids. @default false */
  parseAddedTokens?: boolean;
  /** @default false */
  addBos?: boolean;
}

/** What a template is told of a tool. */
export interface ToolSchema {
  name: string;
  description: string;
  parameters: JsonSchema;
}

export interface ChatTemplateOptions {
  /** Tools by themselves, or wrapped as `{ type: 'function', function }` already. */
  tools?: (ToolSchema | { type: 'function'; function: ToolSchema })[];
  /** @default false */
  addGenerationPrompt?: boolean;
  /** Further template variables, e.g. `enable_thinking`. */
  variables?: Record<string, unknown>;
}

/** Bytes of every id: what the native stop-string matcher reads. */
export interface TokenBytes {
  /** All bytes, one id after the other. */
  bytes: Uint8Array;
  /** (V + 1) id's bytes are bytes[offsets[id] .. offsets[id + 1]]. */
  offsets: Uint32Array;
  /** (V) 1 = the id has an entry in the tokenizer (the support). V = largest id + 1. */
  present: Uint8Array;
}

export interface Tokenizer {
  encode(text: string, options?: EncodeOptions): Int32Array;
  decode(ids: ArrayLike<number>, options?: { skipSpecialTokens?: boolean }): string;
  applyChatTemplate(messages: Message[], options?: ChatTemplateOptions): { text: string; ids: Int32Array };
  /** A conversation to learn from: mask 1 on what assistants wrote, their calls and the ends of their turns included. */
  encodeConversation(
    messages: Message[],
    options?: Omit<ChatTemplateOptions, 'addGenerationPrompt'>,
  ): { ids: Int32Array; mask: Uint8Array };
  /**
   * Ids that follow a finished assistant turn: the rest of its turn end (nothing of it where the turn was ended by the
   * model), the separator, the new messages, the next assistant header. All of them are observation tokens (mask 0).
   *
   * @param messages the whole conversation so far; its last message is the assistant turn that was sampled
   * @param next messages to add (roles user or tool)
   * @param ended the sampled turn already ends with the template's turn-end id
   */
  continuation(messages: Message[], next: Message[], ended: boolean, options?: ChatTemplateOptions): Int32Array;
  /** Longest prefix (or suffix) of text within n tokens, and whether it was cut. */
  truncate(text: string, maxTokens: number, keep?: 'start' | 'end'): { text: string; cut: boolean };
  tokenBytes(): TokenBytes;
  /** The template's turn-end id, undefined without a template. */
  readonly turnEndId: number | undefined;
  readonly bosId: number | undefined;
  readonly hasChatTemplate: boolean;
  /** The template has a form of its own for role 'tool'; where not, `continuation` writes tool messages as user's. */
  readonly handlesToolRole: boolean;
  /** The default stop set: generation_config.json's eos list (else config.json's) and the turn end. */
  readonly stopIds: readonly number[];
}
