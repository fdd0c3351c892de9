import { deriveSeed } from '../../algorithms/index.js';
import type { CodeTask } from '../../data/types.js';
import type { DocumentationEntry } from '../../tools/documentation/entries.js';
import { drawing, nameSource, type Draw } from './names.js';

/** A task of the demo: a small Python function. */
export interface DemoTask extends CodeTask {
  /** It needs a function whose name only the documentation tells. */
  needsSearch: boolean;
  solution: string;
  /** What a model writes that did not look it up. */
  guess: string;
  /** A query that finds what the task needs. */
  query: string;
}

/** Tasks and the documentation of every function that they need. */
export interface DemoTasks {
  training: DemoTask[];
  /** Shares no module, function or notion with `training`. */
  unseen: DemoTask[];
  documentation: DocumentationEntry[];
}

/** Every `EASY`-th task needs no documentation. */
const EASY = 4;
const CHECKS = 3;
const PRIMES = [7, 11, 13, 17, 19, 23];

interface Family {
  /** The task in words; n is a number of it. */
  words: (n: number) => string;
  code: (n: number) => string;
  /** Arguments and what comes out, as Python. */
  example: (draw: Draw, n: number) => [string, string];
}

const items = (draw: Draw) => Array.from({ length: draw.integer(3, 6) }, () => draw.integer(0, 50));
const list = (values: readonly number[]) => `[${values.join(', ')}]`;
const number =
  (result: (x: number, n: number) => number): Family['example'] =>
  (draw, n) => {
    const x = draw.integer(0, 60);
    return [String(x), String(result(x, n))];
  };
const ofList =
  (result: (values: number[]) => string): Family['example'] =>
  (draw) => {
    const values = items(draw);
    return [list(values), result(values)];
  };

/** What anybody who knows Python writes down at once. */
const FAMILIES: readonly Family[] = [
  { words: (n) => `x plus ${n}`, code: (n) => `x + ${n}`, example: number((x, n) => x + n) },
  { words: (n) => `x minus ${n}`, code: (n) => `x - ${n}`, example: number((x, n) => x - n) },
  { words: (n) => `x times ${n}`, code: (n) => `x * ${n}`, example: number((x, n) => x * n) },
  { words: (n) => `the remainder of x by ${n}`, code: (n) => `x % ${n}`, example: number((x, n) => x % n) },
  { words: () => 'the largest item of x', code: () => 'max(x)', example: ofList((v) => String(Math.max(...v))) },
  { words: () => 'the smallest item of x', code: () => 'min(x)', example: ofList((v) => String(Math.min(...v))) },
  { words: () => 'the number of items of x', code: () => 'len(x)', example: ofList((v) => String(v.length)) },
  {
    words: () => 'the sum of x',
    code: () => 'sum(x)',
    example: ofList((v) => String(v.reduce((left, right) => left + right, 0))),
  },
  {
    words: () => 'the items of x in order',
    code: () => 'sorted(x)',
    example: ofList((v) => list([...v].sort((left, right) => left - right))),
  },
];

const program = (body: string, imported?: string) =>
  `${imported === undefined ? '' : `import ${imported}\n`}def solve(x):\n    return ${body}\n`;
const checks = (pairs: readonly [string, string][]) =>
  pairs.map(([argument, result]) => `assert solve(${argument}) == ${result}`).join('\n');

function easyTask(id: string, draw: Draw): DemoTask {
  const family = draw.one(FAMILIES);
  const n = draw.integer(2, 20);
  const solution = program(family.code(n));
  return {
    id,
    prompt: `solve(x) returns ${family.words(n)}.`,
    needsSearch: false,
    solution,
    guess: solution,
    query: family.words(n),
    entryPoint: 'solve',
    style: 'assert',
    test: checks(Array.from({ length: CHECKS }, () => family.example(draw, n))),
  };
}

function searchTask(id: string, draw: Draw, name: () => string): { task: DemoTask; entry: DocumentationEntry } {
  const [module, call, notion] = [name(), name(), name()];
  const [factor, offset, modulus] = [draw.integer(2, 6), draw.integer(1, 9), draw.one(PRIMES)];
  const arguments_ = Array.from({ length: CHECKS }, () => draw.integer(0, 60));
  const entry = {
    name: `${module}.${call}`,
    signature: `${module}.${call}(x)`,
    text: `The ${notion} of x.`,
    hint: '',
    weight: 0.5,
  };
  const task: DemoTask = {
    id,
    prompt: `solve(x) returns the ${notion} of x, from module ${module}.`,
    needsSearch: true,
    solution: program(`${module}.${call}(x)`, module),
    guess: program(`${module}.${notion}(x)`, module),
    query: `the ${notion} of x, from module ${module}`,
    entryPoint: 'solve',
    style: 'assert',
    test: checks(arguments_.map((x) => [String(x), String((x * factor + offset) % modulus)])),
    files: { [`${module}.py`]: `def ${call}(x):\n    return (x * ${factor} + ${offset}) % ${modulus}\n` },
  };
  return { task, entry };
}

/**
 * The demo's tasks: three quarters need a function that only the documentation tells, the rest do not. Names are invented
 * and drawn anew for every task.
 *
 * @param sizes tasks of each split
 */
export function drawDemoTasks(seed: number, sizes: { training: number; unseen: number }): DemoTasks {
  const draw = drawing(deriveSeed(seed, 'demo tasks'));
  const name = nameSource(deriveSeed(seed, 'demo names'));
  const documentation: DocumentationEntry[] = [];
  const split = (label: string, size: number) =>
    Array.from({ length: size }, (_, index) => {
      const id = `${label}/${index}`;
      if (index % EASY === EASY - 1) return easyTask(id, draw);
      const { task, entry } = searchTask(id, draw, name);
      documentation.push(entry);
      return task;
    });
  return { training: split('training', sizes.training), unseen: split('unseen', sizes.unseen), documentation };
}
