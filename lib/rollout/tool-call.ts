import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import type { EpisodeState, Tool, ToolCall, ToolOutput } from '../environments/types.js';
import type { Tokenizer } from '../tokenizer/index.js';
import { withDeadline } from './deadline.js';

/** Time a tool has when it names none. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000;
/** Tokens of an observation when its tool names no limit. */
export const DEFAULT_TOOL_TOKENS = 512;

const CUT_MARK = '[... cut ...]';
const ajv = new Ajv({ allErrors: true, strict: false });
const validators = new WeakMap<Tool, ValidateFunction>();

function validatorOf(tool: Tool): ValidateFunction {
  const known = validators.get(tool);
  if (known) return known;
  const validate = ajv.compile(tool.parameters);
  validators.set(tool, validate);
  return validate;
}

const failed = (text: string): ToolOutput => ({ text, isError: true });

function cutText(
  output: ToolOutput,
  tool: Tool | undefined,
  tokenizer: Tokenizer,
): { output: ToolOutput; cut: boolean } {
  const most = tool?.maxTokens ?? DEFAULT_TOOL_TOKENS;
  const keep = tool?.keep ?? 'start';
  if (!tokenizer.truncate(output.text, most, keep).cut) return { output, cut: false };
  const room = Math.max(0, most - tokenizer.encode(`\n${CUT_MARK}\n`).length);
  const { text } = tokenizer.truncate(output.text, room, keep);
  return { output: { ...output, text: keep === 'start' ? `${text}\n${CUT_MARK}` : `${CUT_MARK}\n${text}` }, cut: true };
}

async function callTool(tool: Tool, call: ToolCall, episode: EpisodeState, signal: AbortSignal): Promise<ToolOutput> {
  const validate = validatorOf(tool);
  if (!validate(call.args)) {
    return failed(
      `ERROR: wrong arguments for ${tool.name}: ${ajv.errorsText(validate.errors, { dataVar: 'arguments' })}`,
    );
  }
  const timeoutMs = tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS;
  const settled = await withDeadline(
    (inner) => tool.run(call.args, { task: episode.task, episode, signal: inner }),
    timeoutMs,
    signal,
  );
  if (settled.kind === 'timeout') return failed(`ERROR: ${tool.name} gave no answer within ${timeoutMs / 1000} s`);
  if (settled.kind === 'aborted') return { ...failed('aborted'), invalid: 'aborted' };
  if (settled.kind === 'error') {
    const { error } = settled;
    return failed(`ERROR: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof settled.value === 'string') return { text: settled.value };
  if (typeof settled.value?.text !== 'string') return failed(`ERROR: ${tool.name} gave no text`);
  return settled.value;
}

/**
 * Runs one call. Never throws: an unknown tool, wrong arguments, an exception and a timeout become error observations. Its
 * text is cut to the tool's token limit, with a mark on the cut side.
 */
export async function runCall(
  call: ToolCall,
  tools: readonly Tool[],
  episode: EpisodeState,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<{ output: ToolOutput; cut: boolean }> {
  const tool = tools.find((entry) => entry.name === call.tool);
  if (!tool) {
    const names = tools.map((entry) => entry.name).join(', ');
    return { output: failed(`ERROR: there is no tool ${call.tool}; the tools are: ${names}`), cut: false };
  }
  return cutText(await callTool(tool, call, episode, signal), tool, tokenizer);
}
