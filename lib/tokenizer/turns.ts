import type { Message } from '../environments/types.js';
import { GrpoError } from '../errors.js';
import type { AddedTokens } from './added-tokens.js';
import type { AddedTokenEntry } from './files.js';
import { Origin, sliceMarked, type MarkedText } from './marks.js';
import type { ChatTemplate } from './template.js';
import type { ChatTemplateOptions } from './types.js';

/** What a chat template says about the seams between turns. */
export interface TurnSeams {
  /** Ends an assistant turn; undefined where the template uses no added token for it. */
  turnEndId: number | undefined;
  /** Ids that no content may give: turn starts, turn ends, headers. */
  delimiterIds: ReadonlySet<number>;
}

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

const PROBE: Message[] = [user('a'), assistant('b'), user('c')];

/** Renders, or undefined where the template refuses the messages. */
function tryRender(
  template: ChatTemplate,
  messages: Message[],
  options: ChatTemplateOptions = {},
): MarkedText | undefined {
  try {
    return template.render(messages, options);
  } catch (error) {
    if (error instanceof GrpoError) return undefined;
    throw error;
  }
}

function templateTokens(added: AddedTokens, part: MarkedText): AddedTokenEntry[] {
  const found: AddedTokenEntry[] = [];
  added.split(part.text, (entry, start, end) => {
    const own = part.origins.subarray(start, end).every((origin) => origin === Origin.template);
    if (own) found.push(entry);
    return own;
  });
  return found;
}

/** `<think>` beside `</think>`: marks a part of a turn, never its border. */
function isPaired(added: AddedTokens, { content, special }: AddedTokenEntry): boolean {
  const name = /^<\/?([^/<>|]+)>$/.exec(content)?.[1];
  return (
    !special && name !== undefined && added.idOf(`<${name}>`) !== undefined && added.idOf(`</${name}>`) !== undefined
  );
}

/** Finds the delimiters of a template by rendering a small conversation. */
export function findSeams(template: ChatTemplate, added: AddedTokens): TurnSeams {
  const system: Message = { role: 'system', content: 's' };
  const probe = tryRender(template, PROBE) ?? tryRender(template, [system, ...PROBE]);
  if (probe === undefined) return { turnEndId: undefined, delimiterIds: new Set() };
  const after = probe.origins.lastIndexOf(Origin.assistant) + 1;
  const following = templateTokens(added, sliceMarked(probe, after, probe.text.length));
  const all = templateTokens(added, probe).filter((entry) => !isPaired(added, entry));
  return { turnEndId: following[0]?.id, delimiterIds: new Set(all.map((entry) => entry.id)) };
}

/** Whether a template has a form of its own for tool messages, rather than printing any role or none. */
export function findToolRole(template: ChatTemplate): boolean {
  if (!template.mentions('tool')) return false;
  const probe = tryRender(template, [user('a'), assistant('b'), { role: 'tool', content: 'c', name: 'n' }]);
  return probe !== undefined && probe.origins.lastIndexOf(Origin.content) > probe.origins.lastIndexOf(Origin.assistant);
}

function mergeSameRole(messages: Message[]): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last !== undefined && last.role === 'user' && message.role === 'user') {
      merged[merged.length - 1] = { ...last, content: `${last.content}\n${message.content}` };
    } else merged.push(message);
  }
  return merged;
}

/**
 * What the template puts after the assistant turn that ends `messages`, up to the end of the next assistant header.
 *
 * @throws GrpoError INVALID_ARGUMENT for other roles than user and tool in `next`
 */
export function renderContinuation(
  template: ChatTemplate,
  handlesToolRole: boolean,
  messages: Message[],
  next: Message[],
  options: ChatTemplateOptions,
): MarkedText {
  if (messages.at(-1)?.role !== 'assistant') {
    throw new GrpoError(
      'INVALID_ARGUMENT',
      'continuation',
      'the last of messages must be the assistant turn that was sampled',
    );
  }
  const wrong = next.find(({ role }) => role !== 'user' && role !== 'tool');
  if (wrong !== undefined || next.length === 0) {
    const found = wrong === undefined ? 'nothing' : `role ${wrong.role}`;
    throw new GrpoError('INVALID_ARGUMENT', 'continuation', `next must hold user or tool messages, but has ${found}`);
  }
  // The turn's own text is not needed, and a stand-in keeps templates from dropping or moving parts of it.
  const whole = [...messages.slice(0, -1), assistant('x'), ...next];
  const adapted = handlesToolRole ? whole : whole.map((m): Message => (m.role === 'tool' ? { ...m, role: 'user' } : m));
  const merged = mergeSameRole(adapted);
  const all = { addGenerationPrompt: true, ...options };
  const first = merged.length < adapted.length ? tryRender(template, adapted, all) : undefined;
  const rendered = first ?? template.render(merged, all);
  const end = rendered.origins.lastIndexOf(Origin.assistant) + 1;
  if (end === 0) {
    throw new GrpoError('INVALID_TOKENIZER', 'continuation', 'the chat template does not print assistant contents');
  }
  return sliceMarked(rendered, end, rendered.text.length);
}
