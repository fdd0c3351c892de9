import type { ToolSchema } from '../../tools/call-checker.js';
import type { ToolCall } from '../types.js';
import type { CallFormatName } from './index.js';

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A call as a model of this format writes it. */
export function writeCall(format: CallFormatName, { tool, args }: ToolCall): string {
  if (format === 'llama-json') return JSON.stringify({ name: tool, parameters: args });
  if (format === 'hermes') return `<tool_call>\n${JSON.stringify({ name: tool, arguments: args })}\n</tool_call>`;
  const parameters = Object.entries(args).map(([key, value]) => `<parameter=${key}>\n${asText(value)}\n</parameter>\n`);
  return `<tool_call>\n<function=${tool}>\n${parameters.join('')}</function>\n</tool_call>`;
}

const FORMS: Record<CallFormatName, string> = {
  hermes:
    'For each call write a JSON object with the function name and its arguments between <tool_call> and </tool_call>:\n' +
    '<tool_call>\n{"name": "FUNCTION", "arguments": {"ARGUMENT": "VALUE"}}\n</tool_call>',
  'qwen-xml':
    'For each call write the function and its parameters between <tool_call> and </tool_call>:\n' +
    '<tool_call>\n<function=FUNCTION>\n<parameter=PARAMETER>\nVALUE\n</parameter>\n</function>\n</tool_call>',
  'llama-json':
    'To call a function, reply with one JSON object and nothing else (several with ; between them):\n' +
    '{"name": "FUNCTION", "parameters": {"PARAMETER": "VALUE"}}',
};

/** Tells a model what tools there are and how to call them, for chat templates that do not say it in this format. */
export function toolPrompt(format: CallFormatName, tools: ToolSchema[]): string {
  const signatures = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ type: 'function', function: { name, description, parameters } }),
  );
  return [
    'You may call one or more of these functions. Their signatures stand between <tools> and </tools>:',
    '<tools>',
    ...signatures,
    '</tools>',
    FORMS[format],
  ].join('\n');
}
