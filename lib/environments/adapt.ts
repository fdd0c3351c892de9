import type { Tokenizer } from '../tokenizer/types.js';
import {
  createCallFormat,
  createTagFormat,
  detectCallFormat,
  tagTools,
  toolPrompt,
  type CallFormatChoice,
  type CallFormatName,
} from './formats/index.js';
import type { Environment, Message } from './types.js';

const adapted = new WeakMap<Environment, WeakMap<Tokenizer, Environment>>();

/** The environment as models with this tokenizer speak; the same object each time. */
export function environmentFor(environment: Environment, tokenizer: Tokenizer): Environment {
  if (environment.adapt === undefined) return environment;
  const known = adapted.get(environment) ?? new WeakMap<Tokenizer, Environment>();
  adapted.set(environment, known);
  let own = known.get(tokenizer);
  if (own === undefined) {
    own = { ...environment.adapt(environment, tokenizer), adapt: undefined };
    known.set(tokenizer, own);
  }
  return own;
}

/** Adds a text to the system message, or puts one first. */
export function withSystemText(messages: Message[], text: string): Message[] {
  const [first, ...rest] = messages;
  if (first?.role === 'system') return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest];
  return [{ role: 'system', content: text }, ...messages];
}

/**
 * Speaks an environment's tools in the template's call format, or in a named one. A template that does not explain the
 * tools in that format gets them in the system message; tags are told by the environment's own prompt.
 *
 * @throws INVALID_CONFIG for 'tags' and a tool that has none
 */
export function speakAs(environment: Environment, choice: CallFormatChoice, tokenizer: Tokenizer): Environment {
  const { tools } = environment;
  if (tools.length === 0) return environment;
  const template = detectCallFormat(tokenizer);
  if (choice === 'tags') {
    const names = tagTools(tools.map(({ name }) => name));
    const format = createTagFormat({ tools: names, startsInThinking: template.startsInThinking });
    return { ...environment, format, toolsInTemplate: false, toolPrompt: undefined };
  }
  const name: CallFormatName = choice === 'auto' ? (template.format ?? 'hermes') : choice;
  const isNative = template.format === name;
  const text = environment.toolPrompt ?? toolPrompt(name, tools);
  return {
    ...environment,
    format: createCallFormat(name, { tools, startsInThinking: template.startsInThinking }),
    toolsInTemplate: isNative,
    // Where a template explains tools in a system message only, a prompt without one still gets them.
    toolPrompt: isNative ? text : undefined,
    prompt: isNative ? environment.prompt : (task) => withSystemText(environment.prompt(task), text),
  };
}

/** The environment with another choice of call format. */
export function withCallFormat(environment: Environment, choice: CallFormatChoice): Environment {
  return { ...environment, toolPrompt: undefined, adapt: (own, tokenizer) => speakAs(own, choice, tokenizer) };
}
