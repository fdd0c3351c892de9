import type { CodeTask } from '../../data/types.js';
import type { SandboxLike } from '../../sandbox/types.js';
import { codeReward } from '../../rewards/code.js';
import { shippedDocumentation } from '../../tools/documentation/open.js';
import type { Documentation } from '../../tools/documentation/search.js';
import { executeTool } from '../../tools/execute.js';
import { searchTool } from '../../tools/search.js';
import { grade, infraReason, submitTool, type CodeOutcome } from '../../tools/submit.js';
import { checkKeys, ensure } from '../../known-keys.js';
import { correctiveLine, createTagFormat, lastCodeBlock } from '../formats/tags.js';
import type { Environment, EpisodeState, Reward, Tool } from '../types.js';
import { MODE_TOOLS, systemPrompt, type CodeAgentMode } from './prompt.js';

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
  /** The chat template opens `<think>` itself. @default false */
  startsInThinking?: boolean;
  /** Time of one program that the model runs, in ms. @default 10000 */
  executeTimeoutMs?: number;
  /** Memory of one program that the model runs, in MB. @default 512 */
  executeMemoryMb?: number;
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
  'startsInThinking',
  'executeTimeoutMs',
  'executeMemoryMb',
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
    search: () => searchTool(documentation === undefined ? shippedDocumentation : () => Promise.resolve(documentation)),
    execute: () =>
      executeTool(options.sandbox, { timeoutMs: options.executeTimeoutMs, memoryMb: options.executeMemoryMb }),
    submit: () =>
      submitTool(options.sandbox, {
        maxSubmissions: (purpose) => (purpose === 'eval' ? maxEvalSubmissions : maxSubmissions),
      }),
  };
  const names = MODE_TOOLS[mode];
  const system = systemPrompt(mode);
  const isSilent = mode === 'no-tools';
  return {
    name: 'code-agent',
    tasks: options.tasks,
    tools: names.map((name) => kit[name]!()),
    rewards: options.rewards ?? [
      codeReward({ distinctSearches: options.distinctSearches, withoutSubmissions: isSilent }),
    ],
    maxTurns: isSilent ? 1 : (options.maxTurns ?? TURNS[mode]),
    prompt: (task) => [
      { role: 'system', content: system },
      { role: 'user', content: task.prompt },
    ],
    format: createTagFormat({ tools: names, startsInThinking: options.startsInThinking }),
    toolsInTemplate: false,
    reply: () => (isSilent ? { done: undefined } : [{ role: 'user', content: correctiveLine(names) }]),
    finish: (episode) => gradeUnsubmitted(episode, options.sandbox, isSilent, options.startsInThinking ?? false),
    figures,
  };
}

/** An evaluation, and a mode without submissions, judges the last code that was written. */
async function gradeUnsubmitted(
  episode: EpisodeState,
  sandbox: SandboxLike,
  isSilent: boolean,
  startsInThinking: boolean,
): Promise<void> {
  if (Number(episode.state['submissions'] ?? 0) > 0) return;
  const nothing: CodeOutcome = { passed: false, submitted: false, graded: false, status: 'no-code' };
  episode.outcome = nothing;
  if (episode.purpose !== 'eval' && !isSilent) return;
  const code = lastCodeBlock(
    episode.turns.map(({ text }) => text),
    startsInThinking,
  );
  if (code === undefined) return;
  const result = await grade(sandbox, episode.task, code);
  episode.outcome = {
    passed: result.status === 'pass',
    submitted: false,
    graded: true,
    status: result.status,
    ...(result.status === 'infra' ? { invalid: infraReason(result) } : {}),
  } satisfies CodeOutcome;
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
  for (const task of options.tasks) {
    ensure(
      operation,
      typeof task.test === 'string',
      `task '${task.id}' has no test: the code agent needs one to judge solutions`,
    );
  }
  ensure(operation, typeof options.sandbox?.test === 'function', 'sandbox must be an open sandbox: see Sandbox.open');
  const { maxTurns, maxSubmissions, maxEvalSubmissions } = options;
  for (const [name, value] of Object.entries({ maxTurns, maxSubmissions, maxEvalSubmissions })) {
    const fits = value === undefined || value === Infinity || (Number.isInteger(value) && value >= 1);
    ensure(operation, fits, `${name} must be an integer of at least 1, but is ${String(value)}`);
  }
  const oneTurn = mode !== 'no-tools' || maxTurns === undefined || maxTurns === 1;
  ensure(
    operation,
    oneTurn,
    `maxTurns does not apply to mode no-tools, which has one turn, but is ${String(maxTurns)}`,
  );
}
