import type { CallFormat, JsonSchema, ParsedTurn } from '../types.js';
import { CallChecker } from '../../tools/call-checker.js';
import { parseJson, withCallInThinking, withoutThinking } from './text.js';
import type { JsonFormatOptions } from './hermes.js';
import { toolMessages } from './observe.js';

const MADE_UP = '<tool_response>';
const BLOCK = /<tool_call>([^]*?)(?:<\/tool_call>|(?=<tool_call>)|$)/g;
const PARAMETER = /<parameter=([^>\n]+)>([^]*?)<\/parameter>/g;

/**
 * Qwen3-Coder: `<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>`. Values are text where
 * the schema says string, JSON elsewhere.
 *
 * @throws INVALID_ARGUMENT where a tool's parameters are no JSON Schema
 */
export function createQwenXmlFormat(options: JsonFormatOptions): CallFormat {
  const checker = new CallChecker(options.tools);
  return {
    name: 'qwen-xml',
    stop: [MADE_UP],
    isComplete: (text) => withoutThinking(text, options.startsInThinking).includes(MADE_UP),
    parse: (text) => {
      const parsed = parseBlocks(withoutThinking(text, options.startsInThinking).split(MADE_UP)[0]!, checker);
      return withCallInThinking(parsed, text, '<tool_call>', options.startsInThinking);
    },
    observe: toolMessages,
  };
}

function parseBlocks(text: string, checker: CallChecker): ParsedTurn {
  const parsed: ParsedTurn = { calls: [], malformed: [] };
  for (const [whole, body = ''] of text.matchAll(BLOCK)) {
    const problem = whole.endsWith('</tool_call>')
      ? readCall(body, checker, parsed)
      : 'the call was cut off before </tool_call>';
    if (problem !== undefined) parsed.malformed.push(problem);
  }
  return parsed;
}

/** Adds the call, or says what is wrong with it. */
function readCall(body: string, checker: CallChecker, parsed: ParsedTurn): string | undefined {
  const [, name, inner] = /^\s*<function=([^>\n]+)>([^]*)<\/function>\s*$/.exec(body) ?? [];
  if (name === undefined || inner === undefined) return 'the call must have the form <function=NAME>…</function>';
  const args: [string, unknown][] = [];
  for (const [, key = '', raw = ''] of inner.matchAll(PARAMETER)) {
    const text = raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
    const value = readValue(text, checker.parameter(name, key));
    if ('problem' in value) return `parameter '${key}' of '${name}': ${value.problem}`;
    if (args.some(([known]) => known === key)) return `parameter '${key}' of '${name}' is given twice`;
    args.push([key, value.value]);
  }
  if (inner.replace(PARAMETER, '').trim() !== '') return `a parameter of '${name}' is not closed by </parameter>`;
  const checked = checker.check(name, Object.fromEntries(args));
  if ('problem' in checked) return checked.problem;
  parsed.calls.push(checked.call);
  return undefined;
}

function readValue(text: string, schema: JsonSchema | undefined): { value: unknown } | { problem: string } {
  const type = schema?.['type'];
  const types = Array.isArray(type) ? (type as unknown[]) : [type];
  if (type === undefined || types.includes('string')) return { value: text };
  const json = parseJson(text);
  return 'value' in json ? json : { problem: `must be of type ${types.join(' or ')}` };
}
