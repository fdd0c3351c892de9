import type { CodeAgentMode } from '../code-agent/prompt.js';

const FENCE = '```';
const USES: Record<string, string> = {
  search: '<search>words</search> asks the documentation.',
  execute: `${FENCE}python fences run code.`,
  submit: `${FENCE}submit fences submit a solution.`,
};

/** The demo's system message: as short as its model is small. */
export function demoPrompt(mode: CodeAgentMode, tools: readonly string[]): string {
  if (mode === 'no-tools') return `Write Python in a ${FENCE}python fence.`;
  return ['Write Python.', ...tools.map((name) => USES[name]).filter((line) => line !== undefined)].join('\n');
}
