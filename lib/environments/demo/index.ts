import type { SandboxLike } from '../../sandbox/types.js';
import { DocumentationIndex } from '../../tools/documentation/search.js';
import { codeAgent } from '../code-agent/index.js';
import type { CodeAgentMode } from '../code-agent/index.js';
import type { Environment } from '../types.js';
import { demoPrompt } from './prompts.js';
import type { DemoTasks } from './tasks.js';

export { drawing } from './names.js';
export type { Draw } from './names.js';
export { SYLLABLES } from './names.js';
export { drawDemoTasks } from './tasks.js';
export type { DemoTask, DemoTasks } from './tasks.js';

/** Options of {@link demoAgent}. */
export interface DemoAgentOptions {
  tasks: DemoTasks;
  sandbox: SandboxLike;
  /** @default 'multi-tool' */
  mode?: CodeAgentMode;
  /** Taken off a passing episode for every search. @default 0 */
  searchCost?: number;
  /** @default the code agent's */
  maxTurns?: number;
  /** @default the code agent's */
  maxSubmissions?: number;
  /** @default the code agent's */
  maxEvalSubmissions?: number;
}

/** An index of what the demo's tasks need, searched like any other documentation. */
export function demoDocumentation({ documentation }: DemoTasks): DocumentationIndex {
  return new DocumentationIndex({ python: '', licence: '', packages: {}, entries: documentation });
}

/**
 * The code agent over the demo's tasks: the same tools, sandbox and verdicts, with a documentation of the functions that the
 * tasks need, one entry a search, and a short system message.
 */
export function demoAgent(options: DemoAgentOptions, documentation = demoDocumentation(options.tasks)): Environment {
  const { tasks, mode = 'multi-tool', ...rest } = options;
  return {
    ...codeAgent({
      ...rest,
      mode,
      tasks: tasks.training,
      documentation,
      searchHits: 1,
      systemPrompt: (tools) => demoPrompt(mode, tools),
    }),
    name: 'demo',
  };
}
