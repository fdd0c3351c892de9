import { CallChecker } from './call-checker.js';
import { checkKeys, ensure } from '../known-keys.js';
import type { ArgumentsOf } from '../environments/arguments.js';
import type { JsonSchema, Task, Tool } from '../environments/types.js';

const KEYS = ['name', 'description', 'parameters', 'run', 'timeoutMs', 'maxTokens', 'keep'] as const;

/** What {@link defineTool} takes: the arguments of `run` have the types that `parameters` say. */
export interface ToolDefinition<T extends Task, Parameters extends JsonSchema> extends Tool<
  T,
  ArgumentsOf<Parameters>
> {
  parameters: Parameters;
}

/**
 * A tool that a model can call. The types of its arguments follow from `parameters`.
 *
 * @throws INVALID_ARGUMENT on an unknown key, a missing field, a wrong type or parameters that are no JSON Schema
 * @example
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
 *   run: ({ a, b }) => String(a + b),
 * });
 */
export function defineTool<T extends Task, const Parameters extends JsonSchema>(
  tool: ToolDefinition<T, Parameters>,
): Tool<T> {
  const operation = 'defineTool';
  ensure(operation, typeof tool === 'object' && tool !== null, 'a tool must be an object');
  checkKeys(operation, tool, KEYS);
  ensure(operation, isName(tool.name), `name must consist of letters, digits, _ and -, but is '${String(tool.name)}'`);
  const named = `of tool '${tool.name}'`;
  ensure(operation, typeof tool.description === 'string', `description ${named} must be a string`);
  ensure(
    operation,
    typeof tool.parameters === 'object' && tool.parameters !== null && !Array.isArray(tool.parameters),
    `parameters ${named} must be a JSON Schema object`,
  );
  ensure(operation, typeof tool.run === 'function', `run ${named} must be a function`);
  ensure(operation, isPositive(tool.timeoutMs), `timeoutMs ${named} must be a positive number of milliseconds`);
  ensure(operation, isPositive(tool.maxTokens), `maxTokens ${named} must be a positive number`);
  ensure(
    operation,
    tool.keep === undefined || ['start', 'end'].includes(tool.keep),
    `keep ${named} must be 'start' or 'end'`,
  );
  new CallChecker([tool]);
  // The call checker lets only such arguments through as `parameters` say.
  return { ...tool } as unknown as Tool<T>;
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w-]{1,64}$/.test(name);
}

function isPositive(value: number | undefined): boolean {
  return value === undefined || (typeof value === 'number' && value > 0);
}
