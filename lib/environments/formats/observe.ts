import type { Message, ToolCall, ToolOutput } from '../types.js';

/** Observations as messages of role tool: one a call, then one a call that could not be parsed. */
export function toolMessages(results: { call: ToolCall; output: ToolOutput }[], malformed: string[]): Message[] {
  const answers = results.map(({ call, output }): Message => ({
    role: 'tool',
    name: call.tool,
    content: output.note === undefined ? output.text : `${output.text}\n${output.note}`,
  }));
  return [...answers, ...malformed.map((problem): Message => ({ role: 'tool', content: `ERROR: ${problem}` }))];
}
