import { Environment, type TemplateEnvironment, type TemplateValue as Value } from './engines.js';
import { isMarked, mark, Origin, unmark } from './marks.js';
import { onPlain, STRING_METHODS } from './python-strings.js';
import { HOOKS } from './template-rewrite.js';

// The engine exports no value classes; a fresh environment hands out one of each.
const samples = new Environment();
const classOf = (name: string, value: unknown): new (value: unknown) => Value =>
  samples.set(name, value).constructor as new (value: unknown) => Value;
const StringValue = classOf('string', '');
const BooleanValue = classOf('boolean', true);
const ArrayValue = classOf('array', []);
const ObjectValue = classOf('object', {});
const FunctionValue = classOf('function', () => null);

const isString = (value: Value | undefined): value is Value & { value: string } => value?.type === 'StringValue';
const unmarkText = (text: string): string => (isMarked(text) ? unmark(text).text : text);

/** The value with the strings in it changed. */
function mapStrings(value: Value, change: (text: string) => string): Value {
  if (isString(value)) return new StringValue(change(value.value));
  if (value.type === 'ArrayValue' || value.type === 'TupleValue') {
    return new ArrayValue((value.value as Value[]).map((item) => mapStrings(item, change)));
  }
  if (value.type === 'ObjectValue') {
    const entries = [...(value.value as Map<string, Value>)];
    return new ObjectValue(new Map(entries.map(([key, item]) => [change(key), mapStrings(item, change)])));
  }
  return value;
}

/** A marked string as JSON writes it between the quotes, marks kept: the engine's serializer then has nothing to escape. */
function escapeMarked(text: string): string {
  return isMarked(text) ? onPlain(text, (plain) => JSON.stringify(plain).slice(1, -1)) : text;
}

function callMethod([name, object, ...rest]: Value[], scope: TemplateEnvironment): Value {
  const method = String(name?.value);
  if (!isString(object)) {
    const own =
      (object as Value).builtins.get(method) ?? (object?.value as Map<string, Value> | undefined)?.get?.(method);
    if (own?.type !== 'FunctionValue')
      throw new Error(`a value of type ${String(object?.type)} has no method ${method}`);
    return (own.value as (args: Value[], scope: TemplateEnvironment) => Value)(rest, scope);
  }
  const named = rest.find((item) => item.type === 'KeywordArgumentsValue')?.value as Map<string, Value> | undefined;
  const plain = rest.filter((item) => item.type !== 'KeywordArgumentsValue');
  const separator = named?.get('sep');
  const numbers = [...plain, ...(named?.values() ?? [])].filter((item) => item.type === 'IntegerValue');
  const strings = [...plain, ...(separator ? [separator] : [])]
    .flatMap((item) => (Array.isArray(item.value) ? (item.value as Value[]) : [item]))
    .filter((item) => item.type !== 'IntegerValue')
    .map((item) => (isString(item) ? item.value : undefined));
  const run = STRING_METHODS[method] as (typeof STRING_METHODS)[string];
  const result = run(object.value, { strings, count: numbers[0]?.value as number | undefined });
  if (typeof result === 'string') return new StringValue(result);
  if (typeof result === 'boolean') return new BooleanValue(result);
  return new ArrayValue(result.map((part) => new StringValue(part)));
}

/** One string index or slice, or a filter: the result of a marked operand is marked. */
function markWhole([operand, result]: Value[]): Value {
  if (!isString(operand) || !isString(result) || !isMarked(operand.value)) return result as Value;
  const origin = unmark(operand.value).origins.find((value) => value !== Origin.template) as Origin;
  return new StringValue(mark(result.value, origin));
}

/** True, False and None as Python prints them. */
function printed(value: Value): Value {
  if (value.type === 'BooleanValue') return new StringValue(value.value === true ? 'True' : 'False');
  return value.type === 'NullValue' ? new StringValue('None') : value;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** Python's strftime in the C locale, local time. */
export function strftime(date: Date, format: string): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const month = MONTHS[date.getMonth()] as string;
  const day = DAYS[date.getDay()] as string;
  const values: Record<string, string> = {
    Y: String(date.getFullYear()),
    y: two(date.getFullYear() % 100),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    b: month.slice(0, 3),
    B: month,
    a: day.slice(0, 3),
    A: day,
    H: two(date.getHours()),
    I: two(date.getHours() % 12 || 12),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    p: date.getHours() < 12 ? 'AM' : 'PM',
    '%': '%',
  };
  return format.replace(/%(-?)([a-zA-Z%])/g, (all, bare: string, letter: string) => {
    const value = values[letter];
    if (value === undefined) throw new Error(`strftime_now: ${all} is not supported`);
    return bare === '' ? value : value.replace(/^0(?=.)/, '');
  });
}

function range(...args: number[]): number[] {
  const [start, stop, step] =
    args.length === 1 ? [0, args[0] as number, 1] : [args[0] as number, args[1] as number, args[2] ?? 1];
  const out: number[] = [];
  for (let value = start; step > 0 ? value < stop : value > stop; value += step) out.push(value);
  return out;
}

/** A template's own refusal (`raise_exception`). */
export class TemplateRefusal extends Error {}

/**
 * The environment a template runs in.
 *
 * @param now one moment for a whole call, so that two renderings agree
 */
export function createEnvironment(variables: Record<string, unknown>, now: Date): TemplateEnvironment {
  const env = new Environment();
  const constants = { false: false, False: false, true: true, True: true, none: null, None: null };
  for (const [name, value] of Object.entries(constants)) env.set(name, value);
  env.set('raise_exception', (message: unknown) => {
    throw new TemplateRefusal(unmarkText(String(message)));
  });
  env.set('range', range);
  env.set('strftime_now', (format: string) => strftime(now, format));
  const hook = (name: string, run: (args: Value[], scope: TemplateEnvironment) => Value): void => {
    env.setVariable(name, new FunctionValue(run));
  };
  hook(HOOKS.method, callMethod);
  hook(HOOKS.plain, ([value, only]) =>
    only !== undefined && !isString(value) ? (value as Value) : mapStrings(value as Value, unmarkText),
  );
  hook(HOOKS.json, ([value]) => mapStrings(value as Value, escapeMarked));
  hook(HOOKS.whole, markWhole);
  hook(HOOKS.print, ([value]) => printed(value as Value));
  // A scratch environment converts: a variable may have the name of a global, which set() would refuse.
  for (const [name, value] of Object.entries(variables)) env.setVariable(name, new Environment().set(name, value));
  return env;
}
