import type { Message } from '../environments/types.js';
import type { AddedTokens } from './added-tokens.js';
import { Origin, type MarkedText } from './marks.js';
import type { ChatTemplate } from './template.js';
import type { ChatTemplateOptions } from './types.js';

/** What the template writes before an assistant turn; '' where it opens none. A `<think>` that it opens is the turn's. */
function assistantHeader(template: ChatTemplate, messages: Message[], options: ChatTemplateOptions): string {
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const asked = messages.slice(0, first);
  const closed = template.render(asked, { ...options, addGenerationPrompt: false }).text;
  const open = template.render(asked, { ...options, addGenerationPrompt: true }).text;
  return open.startsWith(closed) ? open.slice(closed.length).replace(/<think>\s*$/, '') : '';
}

const isTemplate = (marked: MarkedText, from: number, to: number) =>
  marked.origins.subarray(from, to).every((origin) => origin === Origin.template);

/** Where assistant turns begin: after their header, or at their content where the template opens none. */
function* turnStarts(marked: MarkedText, header: string): Generator<number> {
  const { text, origins } = marked;
  if (header === '') {
    for (let at = 0; at < text.length; at++) {
      if (origins[at] === Origin.assistant && origins[at - 1] !== Origin.assistant) yield at;
    }
    return;
  }
  for (let at = text.indexOf(header); at >= 0; at = text.indexOf(header, at + header.length)) {
    if (isTemplate(marked, at, at + header.length)) yield at + header.length;
  }
}

/**
 * Which units of a rendered conversation an assistant wrote: its contents, its calls as the template writes them, and the
 * end of its turns, which a model has to sample as well.
 *
 * @returns one entry a UTF-16 unit of the text
 */
export function assistantUnits(
  template: ChatTemplate,
  added: AddedTokens,
  marked: MarkedText,
  messages: Message[],
  options: ChatTemplateOptions,
  turnEndId: number | undefined,
): Uint8Array {
  const units = new Uint8Array(marked.text.length);
  if (!messages.some(({ role }) => role === 'assistant')) return units;
  const ends: { start: number; end: number }[] = [];
  added.split(marked.text, (entry, start, end) => {
    if (entry.id === turnEndId && isTemplate(marked, start, end)) ends.push({ start, end });
    return true;
  });
  for (const start of turnStarts(marked, assistantHeader(template, messages, options))) {
    const end = ends.find((border) => border.start >= start)?.end;
    const last = end ?? lastAssistantUnit(marked, start);
    units.fill(1, start, last);
  }
  return units;
}

/** A template without a turn end: the content is all there is. */
function lastAssistantUnit({ origins }: MarkedText, start: number): number {
  let at = start;
  while (at < origins.length && origins[at] === Origin.assistant) at++;
  return at;
}
