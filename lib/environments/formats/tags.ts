import { GrpoError } from '../../errors.js';
import type { CallFormat, Message, ParsedTurn, ToolCall, ToolOutput } from '../types.js';
import { segments, type Segment } from './segments.js';
import { CALL_IN_THINKING } from './text.js';

/** The tools that tags and fences can call. */
export type TagTool = 'search' | 'execute' | 'submit';

const TAG_TOOLS: readonly string[] = ['search', 'execute', 'submit'] satisfies TagTool[];

const FORMS: Record<TagTool, string> = {
  search: '<search>QUERY</search> to search the documentation',
  execute: 'a fence opened by a line ```python to run code',
  submit: 'a fence opened by a line ```submit to submit the solution',
};
/** What the observations of a tool stand in. */
export const OBSERVATION_TAGS: Record<string, string> = {
  search: 'doc_result',
  execute: 'exec_result',
  submit: 'test_result',
};
const LANGUAGES = new Set(['python', 'py', '']);

export interface TagFormatOptions {
  /** @default all three */
  tools?: TagTool[];
  /** The chat template opens `<think>` itself. @default false */
  startsInThinking?: boolean;
}

/**
 * The names of tools that are to be called by tags and fences.
 *
 * @throws INVALID_CONFIG where one of them has no tag
 */
export function tagTools(names: readonly string[]): TagTool[] {
  const other = names.find((name) => !TAG_TOOLS.includes(name));
  if (other === undefined) return names as TagTool[];
  const message = `tool ${other} has no tag: set callFormat to hermes, qwen-xml, llama-json or auto to offer it`;
  throw new GrpoError('INVALID_CONFIG', 'config', message);
}

/**
 * The reference format: `<search>QUERY</search>`, ```` ```python ```` and ```` ```submit ```` fences. The first complete
 * call ends the turn; what follows it is made up and ignored.
 */
export function createTagFormat(options: TagFormatOptions = {}): CallFormat {
  const tools = options.tools ?? ['search', 'execute', 'submit'];
  const read = (text: string): { parsed: ParsedTurn; complete: boolean } => {
    const malformed: string[] = [];
    const thoughts: string[] = [];
    for (const segment of segments(text, options.startsInThinking)) {
      if (segment.kind === 'thought') thoughts.push(segment.text);
      const tool = toolOf(segment);
      if (segment.kind === 'thought' || tool === undefined || !tools.includes(tool)) continue;
      if (!segment.complete) {
        malformed[0] = segment.kind === 'search' ? '<search> was not closed' : 'the fence was not closed by a line ```';
        continue;
      }
      const call = toCall(segment, tool);
      if (call === undefined) return { parsed: { calls: [], malformed: ['the call was empty'] }, complete: true };
      return { parsed: { calls: [call], malformed: [] }, complete: true };
    }
    if (malformed.length === 0 && thoughts.some((thought) => holdsCall(thought, tools)))
      malformed[0] = CALL_IN_THINKING;
    return { parsed: { calls: [], malformed }, complete: false };
  };
  return {
    name: 'tags',
    stop: [...(tools.includes('search') ? ['</search>'] : []), ...(tools.length > 0 ? ['\n```'] : [])],
    isComplete: (text) => read(text).complete,
    parse: (text) => read(text).parsed,
    observe: (results, malformed) => [
      { role: 'user', content: observations(results, malformed, tools) } satisfies Message,
    ],
  };
}

/** One line that names the forms of the given tools, with the reason why a line is needed. */
export function correctiveLine(tools: TagTool[], reason = 'no call was found'): string {
  const forms = tools.map((tool) => FORMS[tool]);
  const listed = forms.length > 1 ? `${forms.slice(0, -1).join(', ')}, or ${forms.at(-1)}` : (forms[0] ?? '');
  const sentence = reason[0] === '<' ? reason : reason.charAt(0).toUpperCase() + reason.slice(1);
  return `${sentence}. Write ${listed}; a line \`\`\` closes a fence.`;
}

/** Whether a thought has a whole call in it. */
function holdsCall(thought: string, tools: TagTool[]): boolean {
  for (const segment of segments(thought)) {
    const tool = toolOf(segment);
    if (segment.kind === 'thought' || tool === undefined || !tools.includes(tool) || !segment.complete) continue;
    if (toCall(segment, tool) !== undefined) return true;
  }
  return false;
}

function toolOf(segment: Segment): TagTool | undefined {
  if (segment.kind === 'thought') return undefined;
  if (segment.kind === 'search') return 'search';
  if (segment.ticks !== 3) return undefined;
  const info = segment.info.toLowerCase();
  if (info === 'submit') return 'submit';
  return LANGUAGES.has(info) ? 'execute' : undefined;
}

function toCall(segment: Exclude<Segment, { kind: 'thought' }>, tool: TagTool): ToolCall | undefined {
  if (segment.kind === 'search') return segment.query === '' ? undefined : { tool, args: { query: segment.query } };
  return segment.code.trim() === '' ? undefined : { tool, args: { code: segment.code } };
}

function observations(
  results: { call: ToolCall; output: ToolOutput }[],
  malformed: string[],
  tools: TagTool[],
): string {
  const lines = results.map(({ call, output }) => {
    const tag = OBSERVATION_TAGS[call.tool] ?? 'result';
    const note = output.note === undefined ? '' : `\n${output.note}`;
    return `<${tag}>\n${output.text}\n</${tag}>${note}`;
  });
  return [...lines, ...malformed.map((reason) => correctiveLine(tools, reason))].join('\n');
}

/**
 * The code that an episode without a submission is graded by: the last closed Python or submit fence of its texts; where
 * none is closed, a fence that the end of the last text cut. `undefined` where there is no code.
 */
export function lastCodeBlock(texts: string[], startsInThinking = false): string | undefined {
  let closed: string | undefined;
  let open: string | undefined;
  for (const text of texts) {
    for (const segment of segments(text, startsInThinking)) {
      const tool = toolOf(segment);
      if (segment.kind !== 'fence' || tool === undefined || segment.code.trim() === '') continue;
      if (segment.complete) closed = segment.code;
      else open = segment.code;
    }
  }
  return closed ?? open;
}
