import type { CallFormat, Environment, Task, Tool } from '../../lib/environments/types.js';

/** Calls are written `<NAME>TEXT</NAME>`; a stop string pauses at every `>`. */
export const angleFormat: CallFormat = {
  name: 'angle',
  stop: ['>'],
  isComplete: (text) => /<(\w+)>[^<]*<\/\1>$/.test(text),
  parse: (text) => {
    const calls = [...text.matchAll(/<(\w+)>([^<]*)<\/\1>/g)].map((match) => ({
      tool: match[1] as string,
      args: match[2] === 'nothing' ? {} : { text: match[2] },
    }));
    return { calls, malformed: text.includes('<broken') ? ['a call was not closed'] : [] };
  },
  observe: (results, malformed) => [
    { role: 'user', content: [...results.map(({ output }) => output.text), ...malformed].join('\n') },
  ],
};

const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

/** A tool over the one argument `text`. */
export const textTool = (name: string, run: Tool['run'], extra: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters,
  run,
  ...extra,
});

/** An environment that asks for a word and is won by `<submit>` of the task's answer. */
export function wordEnvironment(extra: Partial<Environment> = {}): Environment {
  return {
    name: 'words',
    tasks: Array.from({ length: 6 }, (_, index): Task => ({
      id: `t${index}`,
      prompt: `say w${index}`,
      answer: `w${index}`,
    })),
    tools: [
      textTool('echo', (args) => `heard ${String(args['text'])}`),
      textTool('submit', (args, { task }) => {
        const right = args['text'] === task['answer'];
        return { text: right ? 'PASS' : 'FAIL', done: right, outcome: { passed: right } };
      }),
    ],
    rewards: [
      { name: 'right', score: ({ outcome }) => ((outcome as { passed?: boolean } | undefined)?.passed ? 1 : 0) },
    ],
    maxTurns: 3,
    prompt: (task) => [{ role: 'user', content: task.prompt }],
    format: angleFormat,
    ...extra,
  };
}
