import type { CodeTask } from '../../data/types.js';
import type { SandboxLike } from '../../sandbox/types.js';
import { codeReward, otherCodeRewards } from '../../rewards/code.js';
import { shippedDocumentation } from '../../tools/documentation/open.js';
import type { Documentation } from '../../tools/documentation/search.js';
import { executeTool } from '../../tools/execute.js';
import { searchTool } from '../../tools/search.js';
import { submitTool, type CodeOutcome } from '../../tools/submit.js';
import { checkKeys, ensure } from '../../known-keys.js';
import { createTagFormat } from '../formats/tags.js';
import { CALL_FORMATS, detectCallFormat, type CallFormatChoice, type TemplateCalls } from '../formats/index.js';
import type { Environment, EpisodeState, Reward, Tool } from '../types.js';
import { gradeUnsubmitted } from './grading.js';
import { MODE_TOOLS, type CodeAgentMode } from './prompt.js';
import { chooseSpeech, speak } from './speech.js';

export type { CodeAgentMode } from './prompt.js';

/** Options of {@link codeAgent}. */
export interface CodeAgentOptions {
  tasks: CodeTask[];
  sandbox: SandboxLike;
  /** What the search tool looks in. @default the shipped index of the standard library */
  documentation?: Documentation;
  /** @default 'multi-tool' */
  mode?: CodeAgentMode;
  /** @default multi-tool 5, code-only 3; no-tools has one turn */
  maxTurns?: number;
  /** Submissions of a training episode; Infinity for any number. @default 3 */
  maxSubmissions?: number;
  /** Submissions of an evaluation episode: a verdict that was seen is a hint. @default 1 */
  maxEvalSubmissions?: number;
  /** The search bonus pays every different query once. @default false */
  distinctSearches?: boolean;
  /**
   * How calls are written: 'tags' is the reference format, 'auto' the form of the model's chat template (tags where it has
   * none). @default 'tags'
   */
  callFormat?: CallFormatChoice;
  /** Turns without a call after which an episode ends; a line that names the forms answers those before. @default no limit */
  maxNoCallTurns?: number;
  /** The chat template opens `<think>` itself. @default what the template does */
  startsInThinking?: boolean;
  /** Time of one program that the model runs, in ms. @default 10000 */
  executeTimeoutMs?: number;
  /** Memory of one program that the model runs, in MB. @default 512 */
  executeMemoryMb?: number;
  /** Taken off a passing episode for every search. @default 0 */
  searchCost?: number;
  /** Entries that one search shows. @default 3 */
  searchHits?: number;
  /** The system message, for the tools of the episode, in place of the project's own. */
  systemPrompt?: (tools: readonly string[]) => string;
  /** In place of the code reward. */
  rewards?: Reward[];
}

const TURNS: Record<CodeAgentMode, number> = { 'multi-tool': 5, 'code-only': 3, 'no-tools': 1 };
const KEYS: (keyof CodeAgentOptions)[] = [
  'tasks',
  'sandbox',
  'documentation',
  'mode',
  'maxTurns',
  'maxSubmissions',
  'maxEvalSubmissions',
  'distinctSearches',
  'callFormat',
  'maxNoCallTurns',
  'startsInThinking',
  'executeTimeoutMs',
  'executeMemoryMb',
  'searchCost',
  'searchHits',
  'systemPrompt',
  'rewards',
];

/**
 * The code agent: solves programming tasks with documentation search, a Python sandbox and submissions that are tested.
 *
 * @throws INVALID_ARGUMENT on an unknown key or a value out of range
 * @example
 * const environment = codeAgent({ tasks: await loadTasks('tasks.jsonl'), sandbox: await Sandbox.open() });
 */
export function codeAgent(options: CodeAgentOptions): Environment {
  const mode = options.mode ?? 'multi-tool';
  check(options, mode);
  const maxSubmissions = options.maxSubmissions ?? 3;
  const maxEvalSubmissions = options.maxEvalSubmissions ?? 1;
  const documentation = options.documentation;
  const kit: Record<string, () => Tool> = {
    search: () =>
      searchTool(
        documentation === undefined ? shippedDocumentation : () => Promise.resolve(documentation),
        options.searchHits,
      ),
    execute: () =>
      executeTool(options.sandbox, { timeoutMs: options.executeTimeoutMs, memoryMb: options.executeMemoryMb }),
    submit: () =>
      submitTool(options.sandbox, {
        maxSubmissions: (purpose) => (purpose === 'eval' ? maxEvalSubmissions : maxSubmissions),
      }),
  };
  const names = MODE_TOOLS[mode];
  const rewardOptions = {
    distinctSearches: options.distinctSearches,
    searchCost: options.searchCost,
    withoutSubmissions: mode === 'no-tools',
    maxTurns: mode === 'no-tools' ? 1 : (options.maxTurns ?? TURNS[mode]),
  };
  const isSilent = mode === 'no-tools';
  const choice = options.callFormat ?? 'tags';
  const base: Environment = {
    name: 'code-agent',
    tasks: options.tasks,
    tools: names.map((name) => kit[name]!()),
    rewards: options.rewards ?? [codeReward(rewardOptions)],
    otherRewards: otherCodeRewards(rewardOptions),
    maxTurns: isSilent ? 1 : (options.maxTurns ?? TURNS[mode]),
    ...(isSilent || options.maxNoCallTurns === undefined ? {} : { maxNoCallTurns: options.maxNoCallTurns }),
    prompt: () => [],
    format: createTagFormat(),
    figures,
  };
  const spoken = (own: Environment, template?: TemplateCalls): Environment => {
    const speech = chooseSpeech(choice, template, options.startsInThinking);
    const { startsInThinking } = speech;
    const settings = { isSilent, startsInThinking, inTags: speech.format === 'tags' };
    return {
      ...speak(own, speech, options.systemPrompt),
      finish: (episode) => gradeUnsubmitted(episode, options.sandbox, settings),
    };
  };
  return { ...spoken(base), adapt: (own, tokenizer) => spoken(own, detectCallFormat(tokenizer)) };
}

function figures(episode: EpisodeState): Record<string, number> {
  const outcome = (episode.outcome ?? {}) as Partial<CodeOutcome>;
  const calls = episode.turns.flatMap((turn) => turn.calls);
  const count = (tool: string) => calls.filter((call) => call.tool === tool).length;
  const any = (tool: string) => (count(tool) > 0 ? 1 : 0);
  return {
    pass: outcome.passed === true ? 1 : 0,
    submitted: outcome.submitted === true ? 1 : 0,
    tool_search: any('search'),
    tool_execute: any('execute'),
    tool_submit: any('submit'),
    searches: count('search'),
    executions: count('execute'),
    submissions: count('submit'),
    invalid_calls: episode.turns.reduce((sum, turn) => sum + turn.malformed.length, 0),
  };
}

function check(options: CodeAgentOptions, mode: CodeAgentMode): void {
  const operation = 'codeAgent';
  checkKeys(operation, options, KEYS);
  ensure(
    operation,
    Object.hasOwn(TURNS, mode),
    `mode must be one of ${Object.keys(TURNS).join(', ')}, but is '${mode}'`,
  );
  ensure(operation, Array.isArray(options.tasks) && options.tasks.length > 0, 'tasks must not be empty');
  const ids = new Set<string>();
  for (const task of options.tasks) {
    ensure(operation, !ids.has(task.id), `two tasks have the id '${task.id}'`);
    ids.add(task.id);
    ensure(
      operation,
      typeof task.test === 'string',
      `task '${task.id}' has no test: the code agent needs one to judge solutions`,
    );
  }
  ensure(operation, typeof options.sandbox?.test === 'function', 'sandbox must be an open sandbox: see Sandbox.open');
  const { maxTurns, maxSubmissions, maxEvalSubmissions, maxNoCallTurns, searchHits, searchCost = 0 } = options;
  ensure(
    operation,
    Number.isFinite(searchCost) && searchCost >= 0,
    `searchCost must be a number of at least 0, but is ${String(searchCost)}`,
  );
  const counts = { maxTurns, maxSubmissions, maxEvalSubmissions, maxNoCallTurns, searchHits };
  for (const [name, value] of Object.entries(counts)) {
    const fits = value === undefined || value === Infinity || (Number.isInteger(value) && value >= 1);
    ensure(operation, fits, `${name} must be an integer of at least 1, but is ${String(value)}`);
  }
  const formats = ['auto', 'tags', ...Object.keys(CALL_FORMATS)];
  const { callFormat = 'tags' } = options;
  ensure(
    operation,
    formats.includes(callFormat),
    `callFormat must be one of ${formats.join(', ')}, but is ${callFormat}`,
  );
  const oneTurn = mode !== 'no-tools' || maxTurns === undefined || maxTurns === 1;
  ensure(
    operation,
    oneTurn,
    `maxTurns does not apply to mode no-tools, which has one turn, but is ${String(maxTurns)}`,
  );
}
