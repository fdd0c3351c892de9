import type { CallFormat, Environment, Reward, Task, Tool } from './types.js';
import { defineTool } from '../tools/define-tool.js';
import { defineReward } from '../rewards/define-reward.js';
import { createCallFormat, hermesToolPrompt, type CallFormatName } from './formats/index.js';
import { checkKeys, ensure } from '../known-keys.js';

/** What {@link defineEnvironment} takes. */
export interface EnvironmentDefinition extends Omit<Environment, 'format' | 'maxTurns' | 'tools' | 'rewards'> {
  /** @default [] */
  tools?: Tool[];
  rewards: Reward[];
  /** @default 5 */
  maxTurns?: number;
  /** How calls are written: a name, or a format of your own. @default 'hermes' */
  format?: CallFormatName | CallFormat;
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
 *   rewards: [defineReward({ name: 'right', score: ({ task, turns }) => Number(turns.at(-1)?.text.includes(String(task.answer))) })],
 *   prompt: (task) => [{ role: 'user', content: task.prompt }],
 * });
 */
export function defineEnvironment(definition: EnvironmentDefinition): Environment {
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
  const format = definition.format ?? 'hermes';
  const callFormat = typeof format === 'string' ? createCallFormat(format, { tools }) : format;
  return {
    toolsInTemplate: tools.length > 0,
    ...(tools.length > 0 && callFormat.name === 'hermes' ? { toolPrompt: hermesToolPrompt(tools) } : {}),
    ...definition,
    tools,
    rewards,
    maxTurns,
    format: callFormat,
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
