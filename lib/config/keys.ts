import { z } from 'zod';
import type { ConfigSchema } from './schema.js';

export type KeyType = 'number' | 'integer' | 'string' | 'boolean' | 'list' | 'numbers';

/** One leaf of a configuration schema, as flags and docs need it. */
export interface ConfigKey {
  /** Dotted, e.g. `loss.klCoefficient`. */
  path: string;
  /** Kebab case, e.g. `loss.kl-coefficient`. */
  flag: string;
  type: KeyType;
  description: string;
  unit: string | undefined;
  choices: string[] | undefined;
  /** What a value has to be, where type, choices and range do not say it. */
  wording: string | undefined;
  /** Human readable, e.g. `>= 1`. */
  range: string | undefined;
  /** Human readable. */
  defaultText: string;
}

interface JsonNode {
  type?: string;
  enum?: string[];
  anyOf?: JsonNode[];
  items?: JsonNode | boolean;
  prefixItems?: JsonNode[];
  properties?: Record<string, JsonNode>;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  default?: unknown;
  description?: string;
  unit?: string;
  shownDefault?: string;
  wording?: string;
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function typeOf(node: JsonNode): KeyType {
  if (node.prefixItems || node.anyOf?.some((form) => form.type === 'array')) return 'numbers';
  if (node.type === 'array') return 'list';
  if (node.type === 'integer' || node.type === 'number' || node.type === 'boolean') return node.type;
  return 'string';
}

function rangeOf(node: JsonNode): string | undefined {
  const parts: string[] = [];
  if (node.exclusiveMinimum !== undefined) parts.push(`> ${node.exclusiveMinimum}`);
  else if (node.minimum !== undefined) parts.push(`>= ${node.minimum}`);
  if (node.exclusiveMaximum !== undefined) parts.push(`< ${node.exclusiveMaximum}`);
  else if (node.maximum !== undefined && node.maximum < Number.MAX_SAFE_INTEGER) parts.push(`<= ${node.maximum}`);
  return parts.length > 0 ? parts.join(', ') : undefined;
}

function defaultText(value: unknown): string {
  if (value === undefined) return '';
  return Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value);
}

function collect(node: JsonNode, prefix: string, into: ConfigKey[]): void {
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    const path = prefix + name;
    if (child.properties) {
      collect(child, `${path}.`, into);
      continue;
    }
    const items = typeof child.items === 'object' ? child.items : undefined;
    into.push({
      path,
      flag: path.split('.').map(kebab).join('.'),
      type: typeOf(child),
      description: child.description ?? '',
      unit: child.unit,
      choices: child.enum ?? items?.enum,
      wording: child.wording,
      range: rangeOf(child),
      defaultText: child.shownDefault ?? defaultText(child.default),
    });
  }
}

/** All leaves of a schema, in its order. */
export function configKeys(schema: ConfigSchema): ConfigKey[] {
  const keys: ConfigKey[] = [];
  collect(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as JsonNode, '', keys);
  return keys;
}
