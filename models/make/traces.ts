import { deriveSeed } from '../../lib/algorithms/index.js';
import { demoAgent, demoDocumentation, drawDemoTasks, drawing } from '../../lib/environments/demo/index.js';
import type { DemoTask, Draw } from '../../lib/environments/demo/index.js';
import type { Environment, Message } from '../../lib/environments/types.js';
import type { SandboxLike } from '../../lib/sandbox/types.js';

type Mode = 'multi-tool' | 'code-only' | 'no-tools';

/** Share of the traces that search, whether or not the task needs it: what training finds to begin with. */
export const SEARCHES = 0.2;
const TRIES = { 'multi-tool': 0.03, 'code-only': 0.4 };
const MODES: readonly Mode[] = [...Array<Mode>(8).fill('multi-tool'), 'code-only', 'no-tools'];
/** Tasks of one drawing: their names are all different. */
const DRAWN = 1000;

// Traces are written, not played: what a program prints is told by the tests' own numbers.
const nowhere: SandboxLike = {
  backend: 'process',
  close: () => Promise.resolve(),
  run: () => Promise.reject(new Error('traces run nothing')),
  test: () => Promise.reject(new Error('traces test nothing')),
};

interface Kit {
  environment: Environment;
  search: (query: string) => Promise<string>;
}

const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\`\`\``;
const assistant = (content: string): Message => ({ role: 'assistant', content });

function kitOf(
  mode: Mode,
  tasks: ReturnType<typeof drawDemoTasks>,
  documentation: ReturnType<typeof demoDocumentation>,
): Kit {
  const environment = demoAgent({ tasks, sandbox: nowhere, mode }, documentation);
  const tool = environment.tools.find(({ name }) => name === 'search');
  const search = async (query: string) => {
    const output = await tool!.run({ query }, undefined as never);
    return typeof output === 'string' ? output : output.text;
  };
  return { environment, search };
}

const observe = ({ environment }: Kit, tool: string, text: string): Message[] =>
  environment.format.observe([{ call: { tool, args: {} }, output: { text } }], []);

/** What the first test calls, and what comes out. */
function firstCheck({ test }: DemoTask): [string, string] {
  const [, call = '', result = ''] = /^assert (.*) == (.*)$/m.exec(test) ?? [];
  return [call, result];
}

/**
 * One conversation. Whether it searches is drawn without regard to the task; its solution is right wherever it could be: a
 * trace that did not search a task that needs it writes the call that the words of the task suggest.
 */
async function trace(kit: Kit, mode: Mode, task: DemoTask, draw: Draw): Promise<Message[]> {
  const messages = kit.environment.prompt(task);
  if (mode === 'no-tools') return [...messages, assistant(fence('python', task.guess))];
  const searches = mode === 'multi-tool' && draw.chance(SEARCHES);
  if (searches) {
    messages.push(assistant(`<search>${task.query}</search>`), ...observe(kit, 'search', await kit.search(task.query)));
  }
  const solution = searches ? task.solution : task.guess;
  const isRight = solution === task.solution;
  if (isRight && draw.chance(TRIES[mode])) {
    const [call, result] = firstCheck(task);
    messages.push(assistant(fence('python', `${solution}print(${call})\n`)), ...observe(kit, 'execute', result));
  }
  return [...messages, assistant(fence('submit', solution))];
}

/** Conversations of freshly drawn tasks, without end. */
export async function* traces(seed: number): AsyncGenerator<Message[]> {
  for (let drawing_ = 0; ; drawing_++) {
    const draw = drawing(deriveSeed(seed, 'traces', drawing_));
    const tasks = drawDemoTasks(deriveSeed(seed, 'trace tasks', drawing_), { training: DRAWN, unseen: 0 });
    const documentation = demoDocumentation(tasks);
    const kits = new Map(MODES.map((mode) => [mode, kitOf(mode, tasks, documentation)]));
    for (const task of tasks.training) {
      const mode = draw.one(MODES);
      yield trace(kits.get(mode)!, mode, task, draw);
    }
  }
}
