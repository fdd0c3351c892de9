import type { Message } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import { Interpreter, parse, tokenize, type TemplateProgram } from './engines.js';
import type { NamedTemplate } from './files.js';
import { isMarked, mark, Origin, unmark, type MarkedText } from './marks.js';
import { createEnvironment, TemplateRefusal } from './template-globals.js';
import { rewrite, walk } from './template-rewrite.js';
import type { ChatTemplateOptions } from './types.js';

/** Changes a string according to what it is part of. */
type Marker = (text: string, origin: Origin) => string;

const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');
const RESERVED = /[\u{d0000}-\u{dffff}\u{f0000}-\u{10ffff}]/gu;
/** Characters of the planes that marks use, as two units that no template looks for. */
const neutral: Marker = (text) => wellFormed(text).replace(RESERVED, '\uFFFF\uFFFF');
const marked: Marker = (text, origin) => mark(wellFormed(text), origin);

/** What a rendering is asked for beyond the messages. */
export type RenderOptions = ChatTemplateOptions & { now?: Date };

/** One chat template: messages to text whose every character knows where it came from. */
export class ChatTemplate {
  private readonly programs = new Map<string, TemplateProgram>();
  private readonly literals = new Set<string>();

  /**
   * @param specialTokens template variables such as bos_token
   * @param isAddedText whether a string holds an added token
   */
  constructor(
    templates: NamedTemplate[],
    private readonly specialTokens: Record<string, string>,
    private readonly isAddedText: (text: string) => boolean,
  ) {
    for (const { name, template } of templates) this.programs.set(name, this.parse(name, template));
  }

  private parse(name: string, template: string): TemplateProgram {
    if (isMarked(template)) {
      const message = `the chat template ${name} holds characters of the Unicode planes 13, 15 or 16, which mark contents here`;
      throw new GrpoError('INVALID_TOKENIZER', 'chat_template', message);
    }
    try {
      const program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }));
      walk(program, (node) => {
        if (node.type === 'StringLiteral') this.literals.add(String(node.value));
      });
      return rewrite(program);
    } catch (error) {
      const message = `the chat template ${name} could not be parsed: ${(error as Error).message}`;
      throw new GrpoError('INVALID_TOKENIZER', 'chat_template', message, { cause: error });
    }
  }

  /** Whether the template's text holds this string literal (a role it knows, for instance). */
  mentions(literal: string): boolean {
    return this.literals.has(literal);
  }

  /** The template that transformers would take: the one named tool_use when there are tools, else the default. */
  private choose(hasTools: boolean): TemplateProgram {
    const program = (hasTools ? this.programs.get('tool_use') : undefined) ?? this.programs.get('default');
    if (program !== undefined) return program;
    const message = `the folder's chat templates are named ${[...this.programs.keys()].join(', ')}; one must be named default`;
    throw new GrpoError('INVALID_TOKENIZER', 'chat_template', message);
  }

  private mapValue(value: unknown, origin: Origin, change: Marker): unknown {
    if (typeof value === 'string') return change(value, origin);
    if (Array.isArray(value)) return value.map((item) => this.mapValue(item, origin, change));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [this.mapKey(key, change), this.mapValue(item, origin, change)]),
    );
  }

  /** Templates read fields by name, so plain names stay; anything that could be more than a name is marked. */
  private mapKey(key: string, change: Marker): string {
    return /^[\w$.-]*$/.test(key) && !this.isAddedText(key) ? key : change(key, Origin.value);
  }

  private mapMessage(message: Message, change: Marker): Record<string, unknown> {
    const { role, ...rest } = message;
    const own = role === 'assistant' ? Origin.assistant : Origin.content;
    const fields = Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => {
        const isText = key === 'content' || (role === 'assistant' && typeof value === 'string');
        return [this.mapKey(key, change), this.mapValue(value, isText ? own : Origin.value, change)];
      });
    return Object.fromEntries([['role', role], ...fields]) as Record<string, unknown>;
  }

  private run(messages: Message[], options: RenderOptions, change: Marker, now: Date): string {
    const tools = options.tools?.map((tool) => {
      if ('function' in tool) return tool;
      const { name, description, parameters } = tool;
      return { type: 'function', function: { name, description, parameters } };
    });
    const variables = this.mapValue(options.variables ?? {}, Origin.value, change) as Record<string, unknown>;
    const env = createEnvironment(
      {
        ...this.specialTokens,
        documents: null,
        ...variables,
        messages: messages.map((message) => this.mapMessage(message, change)),
        tools: tools === undefined || tools.length === 0 ? null : this.mapValue(tools, Origin.value, change),
        add_generation_prompt: options.addGenerationPrompt ?? false,
      },
      now,
    );
    const program = this.choose(tools !== undefined && tools.length > 0);
    return String(new Interpreter(env).run(program).value);
  }

  /**
   * Renders a conversation.
   *
   * @throws GrpoError INVALID_ARGUMENT when the template refuses the messages, INVALID_TOKENIZER when it treats contents
   *   in a way that cannot be followed
   */
  render(messages: Message[], options: RenderOptions = {}): MarkedText {
    const now = options.now ?? new Date();
    let plain: string;
    let followed: MarkedText;
    try {
      plain = this.run(messages, options, neutral, now);
      followed = unmark(this.run(messages, options, marked, now));
    } catch (error) {
      const detail = (error as Error).message;
      const refusal = error instanceof TemplateRefusal;
      const message = refusal
        ? `the chat template refuses these messages: ${detail}`
        : `the chat template failed: ${detail}`;
      throw new GrpoError(refusal ? 'INVALID_ARGUMENT' : 'INVALID_TOKENIZER', 'chat_template', message, {
        cause: error,
      });
    }
    if (followed.text.replace(RESERVED, '\uFFFF\uFFFF') !== plain) {
      const message =
        'the chat template changes contents in a way that cannot be followed, so they could not be kept apart from its own text; use a simpler template';
      throw new GrpoError('INVALID_TOKENIZER', 'chat_template', message);
    }
    return followed;
  }
}
