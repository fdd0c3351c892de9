import type { CallFormat, ParsedTurn } from '../types.js';
import { CallChecker, type ToolSchema } from '../../tools/call-checker.js';
import { parseJson, withCallInThinking, withoutThinking } from './text.js';
import { toolMessages } from './observe.js';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const MADE_UP = '<tool_response>';

export interface JsonFormatOptions {
  tools: ToolSchema[];
  /** The chat template opens `<think>` itself. @default false */
  startsInThinking?: boolean;
}

/**
 * Hermes and Qwen: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. All calls of a turn run, in order; a turn ends
 * at the model's turn end, or where it starts to make up a response.
 *
 * @throws INVALID_ARGUMENT where a tool's parameters are no JSON Schema
 */
export function createHermesFormat(options: JsonFormatOptions): CallFormat {
  const checker = new CallChecker(options.tools);
  return {
    name: 'hermes',
    stop: [MADE_UP],
    isComplete: (text) => withoutThinking(text, options.startsInThinking).includes(MADE_UP),
    parse: (text) => {
      const parsed = parseHermes(withoutThinking(text, options.startsInThinking).split(MADE_UP)[0]!, checker);
      return withCallInThinking(parsed, text, OPEN, options.startsInThinking);
    },
    observe: toolMessages,
  };
}

function parseHermes(text: string, checker: CallChecker): ParsedTurn {
  const parsed: ParsedTurn = { calls: [], malformed: [] };
  const lastClose = text.lastIndexOf(CLOSE);
  let open = text.indexOf(OPEN);
  while (open >= 0) {
    const block = readBlock(text, open + OPEN.length, lastClose);
    if ('problem' in block) {
      parsed.malformed.push(block.problem);
    } else {
      const { name, arguments: args } = asRecord(block.value);
      const checked = checker.check(name, args);
      if ('call' in checked) parsed.calls.push(checked.call);
      else parsed.malformed.push(checked.problem);
    }
    open = text.indexOf(OPEN, block.end);
  }
  return parsed;
}

type Block = { end: number } & ({ value: unknown } | { problem: string });

/** The JSON up to a closing tag; a closing tag inside a JSON string does not end it. */
function readBlock(text: string, start: number, lastClose: number): Block {
  const next = text.indexOf(OPEN, start);
  let first: Block | undefined;
  // Looked for only where there is one: a text of opening tags alone would be searched to its end for each of them.
  let close = start <= lastClose ? text.indexOf(CLOSE, start) : -1;
  for (let tries = 0; close >= 0 && tries < 16; tries++) {
    const json = parseJson(text.slice(start, close));
    const end = close + CLOSE.length;
    if ('value' in json) return { ...json, end };
    first ??= { ...json, end: next >= 0 && next < end ? next : end };
    close = text.indexOf(CLOSE, end);
  }
  return first ?? { problem: 'the call was cut off before </tool_call>', end: next >= 0 ? next : text.length };
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
