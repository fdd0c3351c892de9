import { writeCall, type CallFormatName } from '../formats/index.js';
import type { TagTool } from '../formats/tags.js';

/** How much of the agent's kit an episode has. */
export type CodeAgentMode = 'multi-tool' | 'code-only' | 'no-tools';

const FENCE = '```';
const ADDER = 'def add(a, b):\n    return a + b';

interface Section {
  /** What the tool is for. */
  use: string;
  /** A call in tags or a fence. */
  tagged: string;
  /** Arguments of the same call in other formats. */
  args: Record<string, unknown>;
  /** Where the answer comes. */
  answer: string;
}

const SECTIONS: Record<TagTool, Section> = {
  search: {
    use: 'Search the Python documentation, by a name or by what you want to do:',
    tagged: '<search>read a csv file into dictionaries</search>',
    args: { query: 'read a csv file into dictionaries' },
    answer: 'The best matching symbols come back in <doc_result>.',
  },
  execute: {
    use: 'Run code, to try an idea or to look at a value; print what you want to see:',
    tagged: `${FENCE}python\nprint(sorted("banana"))\n${FENCE}`,
    args: { code: 'print(sorted("banana"))' },
    answer: 'What was printed comes back in <exec_result>.',
  },
  submit: {
    use: 'Submit your solution, the whole code with its imports and without tests; hidden tests run at once:',
    tagged: `${FENCE}submit\n${ADDER}\n${FENCE}`,
    args: { code: ADDER },
    answer: 'The verdict comes back in <test_result>.',
  },
};

const COUNT_WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** Tools of a mode, in the order in which they are explained. */
export const MODE_TOOLS: Record<CodeAgentMode, TagTool[]> = {
  'multi-tool': ['search', 'execute', 'submit'],
  'code-only': ['execute', 'submit'],
  'no-tools': [],
};

/** The system message where there are no tools. */
export function silentPrompt(): string {
  return `You are a Python expert. Solve the task with one reply that ends with the whole solution, imports included, in a block like this:
${FENCE}python
${ADDER}
${FENCE}
Write no tests: the last block of your reply is tested.`;
}

function listed(names: string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '');
}

function section(name: string, index: number, format: 'tags' | CallFormatName): string {
  if (!Object.hasOwn(SECTIONS, name)) return `${index + 1}. ${name}`;
  const { use, tagged, args, answer } = SECTIONS[name as TagTool];
  return `${index + 1}. ${use}\n${format === 'tags' ? tagged : writeCall(format, { tool: name, args })}\n${answer}`;
}

/** The system message: every tool with its form and an example, and how to go about a task. */
export function systemPrompt(names: string[], format: 'tags' | CallFormatName): string {
  const order =
    format === 'tags'
      ? 'Use the tools in any order and as often as you like, one call a turn: a turn ends with its first call, and the answer comes in the next message. Never write an answer yourself.'
      : 'Use the tools in any order and as often as you like. End your turn after your calls: the answers come in the next message. Never write an answer yourself.';
  const advice = [
    ...(names.includes('search')
      ? [
          'When you are not sure how a function is called or which one fits, search the documentation before you write code.',
        ]
      : []),
    ...(names.includes('execute') ? ['Try your code before you submit it.'] : []),
    order,
    ...(names.includes('submit') ? ['The task counts as solved only when a submission passes.'] : []),
  ];
  const count = COUNT_WORDS[names.length] ?? String(names.length);
  return [
    `You are a Python expert with ${count} tool${names.length === 1 ? '' : 's'}: ${listed(names)}.`,
    ...names.map((name, index) => section(name, index, format)),
    advice.join('\n'),
  ].join('\n\n');
}

/** One line that asks for a call in a JSON or XML format, with an example. */
export function askForCall(names: string[], format: CallFormatName): string {
  const [first = ''] = names;
  const args = Object.hasOwn(SECTIONS, first) ? SECTIONS[first as TagTool].args : {};
  const example = writeCall(format, { tool: first, args }).replaceAll('\n', '');
  return `No call was found. Call ${listed(names).replace(/ and (?=\S+$)/, ' or ')}, for example: ${example}`;
}
