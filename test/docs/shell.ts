import { codeBlocks, PAGES, readPage } from './pages.js';

/** One command of a page, as a shell would split it. */
export interface ShellCommand {
  page: string;
  line: number;
  words: string[];
}

const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** Commands of shell text: comments, redirections and settings of the environment left out. */
function split(text: string): string[][] {
  return text
    .replace(/\\\n\s*/g, ' ')
    .split(/\n|&&/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').replace(/\s>\s*\S+/, ''))
    .map((line) => [...line.matchAll(WORD)].map(([, double, single, plain]) => double ?? single ?? plain!))
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))))
    .filter((words) => words.length > 0);
}

/** Every command of every shell block. */
export const COMMANDS: ShellCommand[] = PAGES.flatMap(codeBlocks)
  .filter(({ language }) => language === 'sh')
  .flatMap(({ page, line, code }) => split(code).map((words) => ({ page, line, words })));

/** Commands of this package that stand in the text: `grpo-native train …`. */
const INLINE: ShellCommand[] = PAGES.flatMap((page) =>
  [...readPage(page).matchAll(/`((?:npx )?grpo-native [a-z][^`\n]*)`/g)].flatMap(({ 1: code, index }) =>
    split(code!.replace(/\s*…/g, '')).map((words) => ({
      page,
      line: readPage(page).slice(0, index).split('\n').length,
      words: words[0] === 'npx' ? words : ['npx', ...words],
    })),
  ),
);

/** The words after `npx grpo-native`. */
const own = (commands: ShellCommand[]): ShellCommand[] =>
  commands
    .filter(({ words }) => words[0] === 'npx' && words[1] === 'grpo-native')
    .map((command) => ({ ...command, words: command.words.slice(2) }));

/** Commands of this package in shell blocks. */
export const OWN_COMMANDS = own(COMMANDS);
export const NAMED_COMMANDS = [...OWN_COMMANDS, ...own(INLINE)];
export const OTHER_COMMANDS = COMMANDS.filter(({ words }) => words[1] !== 'grpo-native');

/** Runs the task sample in a sandbox. */
export const checksTasks = ({ words }: ShellCommand): boolean => words[0] === 'tasks';

/** Ends by itself, soon, and wants neither the hub nor a large model. */
export function endsSoon({ words }: ShellCommand): boolean {
  const [command, sub] = words;
  if (command === 'docs') return sub === 'search';
  if (command === 'report') return !words.includes('--serve');
  if (command === 'generate' || command === 'eval') return words.includes('embedded:demo');
  return command === 'log' || command === 'sft';
}
