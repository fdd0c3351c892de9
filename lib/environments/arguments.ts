import type { JsonSchema } from './types.js';

interface Primitives {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type Flat<T> = { [K in keyof T]: T[K] };

type ObjectOf<Properties, Required> = Flat<
  { -readonly [K in keyof Properties as K extends Required ? K : never]: ValueOf<Properties[K]> } & {
    -readonly [K in keyof Properties as K extends Required ? never : K]?: ValueOf<Properties[K]>;
  }
>;

type RequiredOf<S> = S extends { required: readonly (infer Name)[] } ? Name : never;

/** What a JSON Schema lets through, by `const`, `enum`, `type`, `items`, `properties` and `required`; unknown beyond that. */
type ValueOf<S> = S extends { const: infer Value }
  ? Value
  : S extends { enum: readonly (infer Value)[] }
    ? Value
    : S extends { type: keyof Primitives }
      ? Primitives[S['type']]
      : S extends { type: 'array'; items: infer Item }
        ? ValueOf<Item>[]
        : S extends { type: 'array' }
          ? unknown[]
          : S extends { type: 'object'; properties: infer Properties }
            ? ObjectOf<Properties, RequiredOf<S>>
            : S extends { type: 'object' }
              ? Record<string, unknown>
              : unknown;

/**
 * The arguments that a tool with these parameters is called with: they were checked against the schema, so a required
 * property is there. A schema whose literal TypeScript does not see gives `Record<string, unknown>`.
 */
export type ArgumentsOf<S extends JsonSchema> = S extends { properties: infer Properties extends object }
  ? ObjectOf<Properties, RequiredOf<S>>
  : Record<string, unknown>;
