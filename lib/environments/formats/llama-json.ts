import type { CallFormat, ParsedTurn } from '../types.js';
import { CallChecker } from '../../tools/call-checker.js';
import { parseJson, withCallInThinking, withoutThinking } from './text.js';
import { asRecord, type JsonFormatOptions } from './hermes.js';
import { toolMessages } from './observe.js';

const PYTHON_TAG = '<|python_tag|>';

/**
 * Llama 3: the whole reply is `{"name": …, "parameters": {…}}`, several of them separated by `;`, after an optional
 * `<|python_tag|>`. A reply that does not begin with an object is prose.
 *
 * @throws INVALID_ARGUMENT where a tool's parameters are no JSON Schema
 */
export function createLlamaJsonFormat(options: JsonFormatOptions): CallFormat {
  const checker = new CallChecker(options.tools);
  return {
    name: 'llama-json',
    stop: [],
    isComplete: () => false,
    parse: (text) => {
      const parsed = parseReply(withoutThinking(text, options.startsInThinking), checker);
      return withCallInThinking(parsed, text, PYTHON_TAG, options.startsInThinking);
    },
    observe: toolMessages,
  };
}

function parseReply(reply: string, checker: CallChecker): ParsedTurn {
  const parsed: ParsedTurn = { calls: [], malformed: [] };
  const tagged = reply.includes(PYTHON_TAG);
  const text = (tagged ? reply.slice(reply.indexOf(PYTHON_TAG) + PYTHON_TAG.length) : reply)
    .replace(/<\|(?:eot_id|eom_id|end_of_text)\|>\s*$/, '')
    .trim();
  if (!text.startsWith('{')) {
    if (tagged) parsed.malformed.push('the call must be a JSON object with name and parameters');
    return parsed;
  }
  for (const part of splitObjects(text)) {
    const json = parseJson(part);
    if ('problem' in json) {
      parsed.malformed.push(json.problem);
      continue;
    }
    const record = asRecord(json.value);
    const checked = checker.check(record['name'], record['parameters'] ?? record['arguments']);
    if ('call' in checked) parsed.calls.push(checked.call);
    else parsed.malformed.push(checked.problem);
  }
  return parsed;
}

/** Pieces between semicolons that stand outside of strings and braces. */
function splitObjects(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let inString = false;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    else if (character === ';' && depth === 0) {
      pieces.push(text.slice(start, at));
      start = at + 1;
    }
  }
  pieces.push(text.slice(start));
  return pieces.filter((piece) => piece.trim() !== '');
}
