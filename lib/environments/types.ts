import type { FinishReason } from '../policy/types.js';
import type { Tokenizer } from '../tokenizer/types.js';

/** One chat message. */
export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  /** Name of the tool, for role 'tool'. */
  name?: string;
  [key: string]: unknown;
}

/** One task. `prompt` is what the user message shows; the rest belongs to its environment. */
export interface Task {
  id: string;
  prompt: string;
  [key: string]: unknown;
}

/** Any JSON Schema object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A function that an environment's author gives. Written for tasks of one type, it may stand where any task is expected:
 * an environment calls it with its own tasks only.
 */
type Callback<Arguments extends unknown[], Result> = { call(...args: Arguments): Result }['call'];

/** A call as a call format found it in a turn's text. */
export interface ToolCall {
  tool: string;
  args: Record<string, unknown>;
}

/** What a tool gives back. A bare string is `{ text }`. */
export interface ToolOutput {
  text: string;
  /** A line after the observation that is never cut, e.g. what to do next. */
  note?: string;
  /** The call failed (bad arguments, exception): counted, never fatal. */
  isError?: boolean;
  /** Ends the episode with this outcome. */
  done?: boolean;
  /** Becomes the episode's outcome (the last one counts), whether or not it ends. */
  outcome?: unknown;
  /** The infrastructure failed: the episode is invalid, never scored. */
  invalid?: string;
}

export interface ToolContext<T extends Task = Task> {
  task: T;
  episode: EpisodeState<T>;
  signal: AbortSignal;
}

/** A tool of environments with tasks of type T; its arguments are checked against `parameters` before `run`. */
export interface Tool<T extends Task = Task, Arguments = Record<string, unknown>> {
  name: string;
  description: string;
  parameters: JsonSchema;
  run: Callback<[args: Arguments, context: ToolContext<T>], Promise<string | ToolOutput> | string | ToolOutput>;
  /** @default 30000 */
  timeoutMs?: number;
  /** Tokens of its observation at most; a longer one is cut and marked. @default 512 */
  maxTokens?: number;
  /** Which end of a too long observation stays. @default 'start' */
  keep?: 'start' | 'end';
}

/** One assistant turn with what came of it. */
export interface EpisodeTurn {
  /** Index of the first sampled token in the row. */
  start: number;
  /** Sampled tokens of this turn. */
  tokens: number;
  text: string;
  finishReason: FinishReason;
  /** Well-formed calls found, in order. */
  calls: ToolCall[];
  /** Messages of calls that could not be parsed. */
  malformed: string[];
  /** The observations as text, one a call (or the corrective line). */
  observations: string[];
  generateMs: number;
  toolMs: number;
}

/** Grows while an episode runs; tools, replies and rewards read it. */
export interface EpisodeState<T extends Task = Task> {
  task: T;
  turns: EpisodeTurn[];
  messages: Message[];
  outcome: unknown;
  /** Free room for an environment's own counters. */
  state: Record<string, unknown>;
  /** What the caller asked for: 'train' or 'eval'. */
  purpose: 'train' | 'eval';
}

export type EpisodeFinish = 'done' | 'max-turns' | 'length' | 'context' | 'no-call' | 'aborted' | 'invalid';

export interface RewardContext<T extends Task = Task> {
  task: T;
  turns: EpisodeTurn[];
  outcome: unknown;
  messages: Message[];
  finish: EpisodeFinish;
  signal: AbortSignal;
}

export type RewardScore = number | { value: number; parts?: Record<string, number> } | { invalid: string };

/** A reward of environments with tasks of type T. */
export interface Reward<T extends Task = Task> {
  name: string;
  /** @default 1 */
  weight?: number;
  score: Callback<[context: RewardContext<T>], Promise<RewardScore> | RewardScore>;
  /** Least and most that an episode can earn before the weight, by its verdict; for the check that passing pays more. */
  bounds?: { passed: [number, number]; failed: [number, number] };
}

/** What a call format found in the text of a turn so far. */
export interface ParsedTurn {
  calls: ToolCall[];
  /** One message for each call that could not be parsed. */
  malformed: string[];
}

/**
 * How calls are written in text. `stop` strings only pause the sampler: the rollout then asks `isComplete`, and goes on
 * sampling in the same turn when the text holds no complete call yet.
 */
export interface CallFormat {
  name: string;
  stop: string[];
  isComplete: (text: string) => boolean;
  parse: (text: string) => ParsedTurn;
  /** Observations of one turn -> the messages that follow it. */
  observe: (results: { call: ToolCall; output: ToolOutput }[], malformed: string[]) => Message[];
}

/** What an episode is, over tasks of type T. */
export interface Environment<T extends Task = Task> {
  name: string;
  tasks: T[];
  tools: Tool<T>[];
  rewards: Reward<T>[];
  /** @default 5 */
  maxTurns: number;
  prompt: Callback<[task: T], Message[]>;
  format: CallFormat;
  /** Pass the tool schemas to the chat template. @default false */
  toolsInTemplate?: boolean;
  /** Describes the tools in the system message, for chat templates that ignore tool schemas. */
  toolPrompt?: string;
  /** The environment as models with this tokenizer speak: its call format is chosen from the chat template. */
  adapt?: (own: Environment, tokenizer: Tokenizer) => Environment;
  /** Turns without a call after which the episode ends; `reply` answers those before. @default no limit */
  maxNoCallTurns?: number;
  /** Rewards that a configuration may name beside the default ones. */
  otherRewards?: Reward[];
  /** After a turn without a call: messages to go on with, or the end. Without it, the turn ends the episode. */
  reply?: Callback<
    [turn: EpisodeTurn, episode: EpisodeState<T>],
    Promise<Message[] | { done: unknown }> | Message[] | { done: unknown }
  >;
  /** Called when an episode has ended and before it is scored: may set the outcome (eval grades the last code block). */
  finish?: Callback<[episode: EpisodeState<T>], Promise<void> | void>;
  /** Numbers of an episode: `pass` (0 or 1) is its verdict, others are kept in its trajectory. */
  figures?: Callback<[episode: EpisodeState<T>], Record<string, number>>;
  close?: () => Promise<void>;
}
