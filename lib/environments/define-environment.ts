import type { CallFormat, Environment, Message, Reward, Task, Tool } from './types.js';
import { defineTool } from '../tools/define-tool.js';
import { defineReward } from '../rewards/define-reward.js';
import { speakAs } from './adapt.js';
import { createCallFormat, createTagFormat, tagTools, type CallFormatChoice } from './formats/index.js';
import { checkKeys, ensure } from '../known-keys.js';

/** What {@link defineEnvironment} takes. */
export interface EnvironmentDefinition<T extends Task = Task> extends Omit<
  Environment<T>,
  'format' | 'maxTurns' | 'tools' | 'rewards' | 'adapt' | 'otherRewards'
> {
  /** @default [] */
  tools?: Tool<NoInfer<T>>[];
  rewards: Reward<NoInfer<T>>[];
  /** @default 5 */
  maxTurns?: number;
  /**
   * How calls are written: 'auto' is the form of the model's chat template ('hermes', told in the system message, where it
   * has none), a name fixes it, or a format of your own. 'tags' are the code agent's: for tools called search, execute and
   * submit, told by `prompt`. @default 'auto'
   */
  format?: CallFormatChoice | CallFormat;
}

const KEYS = [
  'name',
  'tasks',
  'tools',
  'rewards',
  'maxTurns',
  'prompt',
  'format',
  'toolsInTemplate',
  'toolPrompt',
  'maxNoCallTurns',
  'reply',
  'finish',
  'figures',
  'close',
] as const;

/**
 * An environment: what an episode is.
 *
 * @throws INVALID_ARGUMENT on an unknown key, a missing field, a wrong type, two tools or tasks with one name
 * @example
 * export default defineEnvironment({
 *   name: 'sums',
 *   tasks: [{ id: 'one', prompt: 'What is 17 + 25?', answer: '42' }],
 *   tools: [add],
 *   rewards: [defineReward({ name: 'right', score: ({ task, turns }) => Number(turns.at(-1)?.text.includes(task.answer)) })],
 *   prompt: (task) => [{ role: 'user', content: task.prompt }],
 * });
 */
export function defineEnvironment<T extends Task>(definition: EnvironmentDefinition<T>): Environment<T> {
  const operation = 'defineEnvironment';
  ensure(operation, typeof definition === 'object' && definition !== null, 'an environment must be an object');
  checkKeys(operation, definition, KEYS);
  ensure(
    operation,
    typeof definition.name === 'string' && definition.name !== '',
    'name must be a string that is not empty',
  );
  checkTasks(definition.tasks);
  ensure(operation, definition.tools === undefined || Array.isArray(definition.tools), 'tools must be an array');
  ensure(operation, Array.isArray(definition.rewards), 'rewards must be an array');
  ensure(operation, definition.rewards.length > 0, 'rewards must not be empty: an episode needs a score');
  const maxTurns = definition.maxTurns ?? 5;
  ensure(
    operation,
    Number.isInteger(maxTurns) && maxTurns >= 1,
    `maxTurns must be an integer of at least 1, but is ${maxTurns}`,
  );
  const { maxNoCallTurns } = definition;
  ensure(
    operation,
    maxNoCallTurns === undefined || (Number.isInteger(maxNoCallTurns) && maxNoCallTurns >= 1),
    `maxNoCallTurns must be an integer of at least 1, but is ${maxNoCallTurns}`,
  );
  for (const key of ['prompt', 'reply', 'finish', 'figures', 'close'] as const) {
    const value = definition[key];
    ensure(
      operation,
      typeof value === 'function' || (value === undefined && key !== 'prompt'),
      `${key} must be a function`,
    );
  }
  const tools = (definition.tools ?? []).map(defineTool);
  const rewards = definition.rewards.map(defineReward);
  ensureDistinct('tool', tools);
  ensureDistinct('reward', rewards);
  const format = definition.format ?? 'auto';
  const environment: Environment<T> = {
    toolsInTemplate: tools.length > 0,
    ...(maxNoCallTurns === undefined ? {} : { reply: () => [askForCall(tools)] }),
    ...definition,
    tools,
    rewards,
    maxTurns,
    format: typeof format === 'object' ? format : namedFormat(format, tools),
  };
  if (typeof format === 'object') return environment;
  const { toolsInTemplate } = definition;
  return {
    ...environment,
    adapt: (own, tokenizer) => {
      const spoken = speakAs(own, format, tokenizer);
      // Whoever keeps the tools out of the template tells them in a prompt of their own.
      return toolsInTemplate === false ? { ...spoken, toolsInTemplate, prompt: own.prompt } : spoken;
    },
  };
}

function namedFormat(name: CallFormatChoice, tools: Tool[]): CallFormat {
  if (name === 'tags') return createTagFormat({ tools: tagTools(tools.map((tool) => tool.name)) });
  return createCallFormat(name === 'auto' ? 'hermes' : name, { tools });
}

function askForCall(tools: Tool[]): Message {
  return {
    role: 'user',
    content: `No call was found. Call one of the tools: ${tools.map(({ name }) => name).join(', ')}.`,
  };
}

function checkTasks(tasks: Task[]): void {
  const operation = 'defineEnvironment';
  ensure(operation, Array.isArray(tasks) && tasks.length > 0, 'tasks must be an array with at least one task');
  const seen = new Set<string>();
  tasks.forEach((task, index) => {
    const fits = typeof task?.id === 'string' && typeof task.prompt === 'string';
    ensure(operation, fits, `tasks[${index}] must have an id and a prompt, both strings`);
    ensure(operation, !seen.has(task.id), `two tasks have the id '${task.id}'`);
    seen.add(task.id);
  });
}

function ensureDistinct(kind: string, values: { name: string }[]): void {
  const names = values.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  ensure('defineEnvironment', twice === undefined, `two ${kind}s have the name '${twice}'`);
}
