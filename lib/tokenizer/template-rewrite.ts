import type { TemplateProgram } from './engines.js';

/** A syntax node, as loosely as a walk over all of them needs it. */
export interface Node {
  type: string;
  [key: string]: unknown;
}

/** Names of the functions that {@link rewrite} makes templates call. */
export const HOOKS = {
  method: '__method',
  plain: '__plain',
  json: '__json',
  whole: '__whole',
  print: '__print',
} as const;

const METHODS = new Set([
  ...[
    'strip',
    'lstrip',
    'rstrip',
    'split',
    'replace',
    'startswith',
    'endswith',
    'upper',
    'lower',
    'title',
    'capitalize',
  ],
]);
const COMPARISONS = new Set(['==', '!=', 'in', 'not in']);
/** Fields that hold the statements of a block, and the expressions in them that print something else than a string. */
const BLOCKS = new Set(['body', 'alternate', 'defaultBlock']);
const PRINTED = new Set([
  ...['Identifier', 'MemberExpression', 'CallExpression', 'FilterExpression', 'BinaryExpression', 'TestExpression'],
  ...['UnaryExpression', 'Ternary', 'SelectExpression'],
]);
const PLAIN_FILTERS = new Set(['length', 'count', 'int', 'float']);
const WHOLE_FILTERS = new Set(['indent']);
const METHOD_FILTERS: Readonly<Record<string, string>> = {
  trim: 'strip',
  replace: 'replace',
  upper: 'upper',
  lower: 'lower',
  title: 'title',
  capitalize: 'capitalize',
};

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

/** Calls `visit` for every node below (and including) a value. */
export function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  else if (value instanceof Map) {
    for (const [key, item] of value) {
      walk(key, visit);
      walk(item, visit);
    }
  } else if (isNode(value)) {
    visit(value);
    for (const child of Object.values(value)) if (typeof child === 'object') walk(child, visit);
  }
}

/**
 * Makes a template look at strings through our own functions: Python's rules for strip, split and the like (the engine's
 * ignore their arguments), and comparisons that see through marks. The template's meaning stays the same.
 */
export function rewrite(program: TemplateProgram): TemplateProgram {
  const prototype = Object.getPrototypeOf(program) as object;
  const node = (type: string, fields: Record<string, unknown>): Node =>
    Object.assign(Object.create(prototype) as Node, { type, ...fields });
  const call = (hook: string, args: unknown[]): Node =>
    node('CallExpression', { callee: node('Identifier', { value: hook }), args });
  const text = (value: string): Node => node('StringLiteral', { value });

  const printed = (item: unknown): unknown =>
    isNode(item) && PRINTED.has(item.type) ? call(HOOKS.print, [item]) : item;

  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(change);
    if (value instanceof Map) return new Map([...value].map(([key, item]) => [change(key), change(item)]));
    if (!isNode(value)) return value;
    for (const [key, child] of Object.entries(value)) {
      // Operators are lexer tokens, which look like nodes.
      if (key !== 'operator' && typeof child === 'object' && child !== null) value[key] = change(child);
      if (BLOCKS.has(key) && Array.isArray(value[key])) value[key] = (value[key] as unknown[]).map(printed);
    }
    return changeNode(value);
  };

  const changeNode = (value: Node): Node => {
    if (value.type === 'BinaryExpression' && (value.operator as { value: string }).value === '~') {
      value.left = call(HOOKS.print, [value.left]);
      value.right = call(HOOKS.print, [value.right]);
    } else if (
      value.type === 'BinaryExpression' &&
      COMPARISONS.has(String((value.operator as { value: string }).value))
    ) {
      value.left = call(HOOKS.plain, [value.left]);
      value.right = call(HOOKS.plain, [value.right]);
    } else if (value.type === 'CallExpression') return changeCall(value);
    else if (value.type === 'FilterExpression') return changeFilter(value);
    else if (value.type === 'MemberExpression' && value.computed === true) return changeIndex(value);
    return value;
  };

  const changeCall = (value: Node): Node => {
    const callee = value.callee as Node;
    const property = callee.property as Node | undefined;
    if (callee.type !== 'MemberExpression' || callee.computed === true || !METHODS.has(String(property?.value)))
      return value;
    return call(HOOKS.method, [text(String(property?.value)), callee.object, ...(value.args as Node[])]);
  };

  const changeFilter = (value: Node): Node => {
    const filter = value.filter as Node;
    const name = String(filter.type === 'CallExpression' ? (filter.callee as Node).value : filter.value);
    const args = filter.type === 'CallExpression' ? (filter.args as Node[]) : [];
    const method = METHOD_FILTERS[name];
    if (method !== undefined) return call(HOOKS.method, [text(method), value.operand, ...args]);
    if (name === 'string') value.operand = call(HOOKS.print, [value.operand]);
    if (name === 'tojson') value.operand = call(HOOKS.json, [value.operand]);
    if (PLAIN_FILTERS.has(name)) value.operand = call(HOOKS.plain, [value.operand]);
    if (!WHOLE_FILTERS.has(name)) return value;
    const operand = value.operand;
    value.operand = call(HOOKS.plain, [operand]);
    return call(HOOKS.whole, [operand, value]);
  };

  const changeIndex = (value: Node): Node => {
    const property = value.property as Node;
    if (!['SliceExpression', 'IntegerLiteral', 'UnaryExpression'].includes(property.type)) return value;
    const object = value.object;
    value.object = call(HOOKS.plain, [object, text('strings')]);
    return call(HOOKS.whole, [object, value]);
  };

  return change(program) as TemplateProgram;
}
