import { GrpoError } from '../../errors.js';
import type { Tokenizer } from '../../tokenizer/types.js';
import type { Message } from '../types.js';
import type { CallFormatName } from './index.js';

/** What a chat template says about calls. */
export interface TemplateCalls {
  /** The form in which it writes calls; undefined where it ignores tools, or writes them in a form that is not known. */
  format: CallFormatName | undefined;
  /** Its assistant header opens `<think>`, so that a turn begins inside of thinking. */
  startsInThinking: boolean;
}

const TOOL = {
  name: 'probe_tool',
  description: 'Probes.',
  parameters: { type: 'object', properties: { probe_key: { type: 'string' } }, required: ['probe_key'] },
};
/** Some templates explain tools in a system message only, others refuse one. */
const OPENINGS: Message[][] = [
  [
    { role: 'system', content: 'probe' },
    { role: 'user', content: 'probe' },
  ],
  [{ role: 'user', content: 'probe' }],
];
const CALL = { type: 'function', id: 'probe0000', function: { name: TOOL.name, arguments: { probe_key: 'x' } } };
const CALLED: Message[] = [
  { role: 'assistant', content: '', tool_calls: [CALL] },
  { role: 'tool', name: TOOL.name, tool_call_id: CALL.id, content: 'seen' },
];

/** How a call looks that the template wrote itself. */
const WRITTEN: [CallFormatName, RegExp][] = [
  ['qwen-xml', /<function=probe_tool>/],
  ['hermes', /<tool_call>\s*\{\s*"name":\s*"probe_tool",\s*"arguments"/],
  ['llama-json', /\{\s*"name":\s*"probe_tool",\s*"parameters"/],
];
/** How the template explains calls to the model. */
const EXPLAINED: [CallFormatName, RegExp][] = [
  ['qwen-xml', /<function=/],
  ['hermes', /<tool_call>/],
  ['llama-json', /"name": ?function name, ?"parameters"/],
];

type Probed = Pick<Tokenizer, 'applyChatTemplate'>;

/** The text, or undefined where the template refuses such messages. */
function rendered(tokenizer: Probed, messages: Message[], hasTools: boolean): string | undefined {
  try {
    return tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true, ...(hasTools ? { tools: [TOOL] } : {}) })
      .text;
  } catch (error) {
    if (error instanceof GrpoError && error.code === 'INVALID_ARGUMENT') return undefined;
    throw error;
  }
}

/** Finds the call format of a chat template by what it renders for tools and for a call. */
export function detectCallFormat(tokenizer: Probed): TemplateCalls {
  const opening = OPENINGS.find((messages) => rendered(tokenizer, messages, false) !== undefined) ?? OPENINGS[1]!;
  const plain = rendered(tokenizer, opening, false) ?? '';
  const startsInThinking = /<think>\s*$/.test(plain);
  const explained = rendered(tokenizer, opening, true);
  if (explained === undefined || explained === plain) return { format: undefined, startsInThinking };
  const called = rendered(tokenizer, [...opening, ...CALLED], true);
  const find = (forms: [CallFormatName, RegExp][], text: string) => forms.find(([, form]) => form.test(text))?.[0];
  const format = (called === undefined ? undefined : find(WRITTEN, called)) ?? find(EXPLAINED, explained);
  return { format, startsInThinking };
}
