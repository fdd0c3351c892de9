import type { TagTool } from '../formats/tags.js';

/** How much of the agent's kit an episode has. */
export type CodeAgentMode = 'multi-tool' | 'code-only' | 'no-tools';

const FENCE = '```';

const SECTIONS: Record<TagTool, string> = {
  search: `Search the Python documentation, by a name or by what you want to do:
<search>read a csv file into dictionaries</search>
The best matching symbols come back in <doc_result>.`,
  execute: `Run code, to try an idea or to look at a value; print what you want to see:
${FENCE}python
print(sorted("banana"))
${FENCE}
What was printed comes back in <exec_result>.`,
  submit: `Submit your solution, the whole code with its imports and without tests; hidden tests run at once:
${FENCE}submit
def add(a, b):
    return a + b
${FENCE}
The verdict comes back in <test_result>.`,
};

const TOOL_NAMES: Record<TagTool, string> = { search: 'search', execute: 'execute', submit: 'submit' };
const COUNT_WORDS = ['no', 'one', 'two', 'three'];

/** Tools of a mode, in the order in which they are explained. */
export const MODE_TOOLS: Record<CodeAgentMode, TagTool[]> = {
  'multi-tool': ['search', 'execute', 'submit'],
  'code-only': ['execute', 'submit'],
  'no-tools': [],
};

/** The system message of a mode. */
export function systemPrompt(mode: CodeAgentMode): string {
  const tools = MODE_TOOLS[mode];
  if (tools.length === 0) {
    return `You are a Python expert. Solve the task with one reply that ends with the whole solution, imports included, in a block like this:
${FENCE}python
def add(a, b):
    return a + b
${FENCE}
Write no tests: the last block of your reply is tested.`;
  }
  const names = tools.map((tool) => TOOL_NAMES[tool]);
  const listed = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  const advice = [
    ...(tools.includes('search')
      ? [
          'When you are not sure how a function is called or which one fits, search the documentation before you write code.',
        ]
      : []),
    'Try your code before you submit it.',
    'Use the tools in any order and as often as you like, one call a turn: a turn ends with its first call, and the answer comes in the next message. Never write an answer yourself.',
    'The task counts as solved only when a submission passes.',
  ];
  return [
    `You are a Python expert with ${COUNT_WORDS[tools.length]} tools: ${listed}.`,
    ...tools.map((tool, index) => `${index + 1}. ${SECTIONS[tool]}`),
    advice.join('\n'),
  ].join('\n\n');
}
