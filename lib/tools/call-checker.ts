import { Ajv, type ValidateFunction } from 'ajv';
import { GrpoError } from '../errors.js';
import type { JsonSchema, Tool, ToolCall } from '../environments/types.js';

/** What a call must fit: a tool's name and its parameter schema. */
export type ToolSchema = Pick<Tool, 'name' | 'description' | 'parameters'>;

/** A call that fits its tool, or the message that says why not. */
export type CheckedCall = { call: ToolCall } | { problem: string };

/** Checks calls against the tools' JSON Schemas. Arguments are taken as they are: nothing is coerced or filled in. */
export class CallChecker {
  private readonly validators = new Map<string, { validate: ValidateFunction; schema: JsonSchema }>();

  /** @throws INVALID_ARGUMENT where `parameters` of a tool is no valid JSON Schema */
  constructor(tools: ToolSchema[]) {
    const ajv = new Ajv({ strict: false, allErrors: false, logger: false, validateFormats: false });
    for (const tool of tools) {
      try {
        this.validators.set(tool.name, { validate: ajv.compile(tool.parameters), schema: tool.parameters });
      } catch (cause) {
        throw new GrpoError(
          'INVALID_ARGUMENT',
          'defineTool',
          `parameters of tool '${tool.name}' must be a JSON Schema: ${(cause as Error).message}`,
          { cause },
        );
      }
    }
  }

  /** Schema of one parameter, where the tool and the parameter are known. */
  parameter(tool: string, name: string): JsonSchema | undefined {
    const properties = this.validators.get(tool)?.schema['properties'] as Record<string, JsonSchema> | undefined;
    return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  }

  check(tool: unknown, args: unknown): CheckedCall {
    if (typeof tool !== 'string' || tool === '') return { problem: 'the call has no tool name' };
    const known = this.validators.get(tool);
    if (known === undefined) {
      return { problem: `there is no tool '${tool}': the tools are ${[...this.validators.keys()].join(', ')}` };
    }
    if (typeof args !== 'object' || args === null || Array.isArray(args)) {
      return { problem: `the arguments of '${tool}' must be a JSON object` };
    }
    if (!known.validate(args)) {
      const [error] = known.validate.errors ?? [];
      return {
        problem: `arguments of '${tool}': ${error?.instancePath ?? ''} ${error?.message ?? 'do not fit'}`.replace(
          / +/g,
          ' ',
        ),
      };
    }
    return { call: { tool, args: args as Record<string, unknown> } };
  }
}
