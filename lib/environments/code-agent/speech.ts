import { withSystemText } from '../adapt.js';
import {
  createCallFormat,
  toolPrompt,
  type CallFormatChoice,
  type CallFormatName,
  type TemplateCalls,
} from '../formats/index.js';
import { correctiveLine, createTagFormat, OBSERVATION_TAGS, tagTools } from '../formats/tags.js';
import type { CallFormat, Environment, Message, Task } from '../types.js';
import { askForCall, silentPrompt, systemPrompt } from './prompt.js';

/** How the code agent's calls are written, and what its template does by itself. */
export interface Speech {
  format: 'tags' | CallFormatName;
  startsInThinking: boolean;
  /** The template explains the tools in this format. */
  inTemplate: boolean;
}

/** What the template says, and what was asked for, decided. */
export function chooseSpeech(
  choice: CallFormatChoice,
  template: TemplateCalls | undefined,
  startsInThinking: boolean | undefined,
): Speech {
  const format = choice === 'auto' ? (template?.format ?? 'tags') : choice;
  return {
    format,
    startsInThinking: startsInThinking ?? template?.startsInThinking ?? false,
    inTemplate: format !== 'tags' && template?.format === format,
  };
}

const prompted =
  (system: string) =>
  (task: Task): Message[] => [
    { role: 'system', content: system },
    { role: 'user', content: task.prompt },
  ];

/** Observations in the contract's tags, whatever the calls look like. */
function withTags(format: CallFormat): CallFormat {
  return {
    ...format,
    observe: (results, malformed) => {
      const wrapped = results.map(({ call, output }) => {
        const tag = OBSERVATION_TAGS[call.tool];
        const text = tag === undefined ? output.text : `<${tag}>\n${output.text}\n</${tag}>`;
        return { call, output: { ...output, text } };
      });
      return format.observe(wrapped, malformed);
    },
  };
}

/**
 * Prompt, call format and corrective line of the code agent for its present tools.
 *
 * @param systemText the system message in place of the project's own
 * @throws INVALID_CONFIG where a tool has no tag
 */
export function speak(
  own: Environment,
  speech: Speech,
  systemText?: (tools: readonly string[]) => string,
): Environment {
  const { format, startsInThinking, inTemplate } = speech;
  const names = own.tools.map(({ name }) => name);
  if (names.length === 0) {
    return {
      ...own,
      format: createTagFormat({ tools: [], startsInThinking }),
      toolsInTemplate: false,
      prompt: prompted(systemText?.(names) ?? silentPrompt()),
      reply: () => ({ done: undefined }),
    };
  }
  const system = systemText?.(names) ?? systemPrompt(names, format);
  if (format === 'tags') {
    const tools = tagTools(names);
    return {
      ...own,
      format: createTagFormat({ tools, startsInThinking }),
      toolsInTemplate: false,
      prompt: prompted(system),
      reply: () => [{ role: 'user', content: correctiveLine(tools) }],
    };
  }
  const ask = askForCall(names, format);
  const explained = (task: Task) => withSystemText(prompted(system)(task), toolPrompt(format, own.tools));
  return {
    ...own,
    format: withTags(createCallFormat(format, { tools: own.tools, startsInThinking })),
    toolsInTemplate: inTemplate,
    prompt: inTemplate ? prompted(system) : explained,
    reply: () => [{ role: 'user', content: ask }],
  };
}
