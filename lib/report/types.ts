import type { EvaluationRecord } from '../run/records.js';

/** Fields of a log over steps. */
export interface Curves {
  /** (S) */
  steps: number[];
  /** Field -> (S), null where the run has no such number. */
  values: Record<string, (number | null)[]>;
  /** Steps that one entry is the mean of; 1 where nothing was thinned. */
  stepsPerEntry: number;
}

/** What a run is, from its `config.json`. */
export interface RunHead {
  /** Name of the run's folder. */
  name: string;
  model: string | null;
  environment: string | null;
  /** Steps that were asked for. */
  stepsPlanned: number | null;
  stepsDone: number;
  /** Seconds of all steps. */
  seconds: number;
  tokensSampled: number;
  /** `config.json` as it is, for reading. */
  config: string;
}

/** One group of episodes: the samples of a task in a step. */
export interface GroupSummary {
  step: number;
  group: number;
  task: string;
  samples: number;
  /** Invalid samples; they are in no mean. */
  invalid: number;
  rewardMean: number | null;
  /** null where no sample has a verdict. */
  passRate: number | null;
}

/** One task over the whole run. Early and late are the first and second half of its groups. */
export interface TaskRow {
  task: string;
  groups: number;
  episodes: number;
  invalid: number;
  passRate: number | null;
  passEarly: number | null;
  passLate: number | null;
  rewardMean: number | null;
  rewardEarly: number | null;
  rewardLate: number | null;
}

/** Ways to choose among groups. */
export const GROUP_FILTERS = ['first', 'last', 'best', 'worst', 'changed', 'all'] as const;
export type GroupFilter = (typeof GROUP_FILTERS)[number];

/** A stretch of a row that was sampled, or that was given. */
export interface Segment {
  /** Index of its first token in the row. */
  start: number;
  tokens: number;
  sampled: boolean;
  /** Text of given tokens. */
  text?: string;
  /** Texts of sampled tokens, whole characters each: tokens that share a character stand together. */
  pieces?: string[];
  /** One entry a piece, nats: the sum over its tokens. */
  logprobs?: (number | null)[];
  /** What was left out at the end: characters of a text, pieces, or tokens where there is no text at all. */
  cut?: number;
}

/** A message of the prompt, or an assistant turn with what came of it. */
export interface TurnView {
  role: string;
  /** Left out where the row's segment that begins at `start` shows it token by token. */
  text?: string;
  start?: number;
  tokens?: number;
  finish?: string;
  calls?: { tool: string; args: string }[];
  malformed?: string[];
  observations?: string[];
  generateMs?: number;
  toolMs?: number;
}

export interface EpisodeView {
  sample: number;
  reward: number | null;
  parts: Record<string, number>;
  passed: boolean | null;
  advantage: number;
  finish: string;
  invalid: string | null;
  turns: TurnView[];
  /** Empty where the token texts are not known. */
  row: Segment[];
  /** Tokens of the row, and those of them that were sampled. */
  tokens: number;
  sampled: number;
}

/** A group with its episodes. */
export interface GroupView {
  summary: GroupSummary;
  /** Prompt messages that all episodes share. */
  prompt: TurnView[];
  episodes: EpisodeView[];
}

/** One line of the before/after table; null where that was not evaluated. */
export interface ResultLine {
  label: string;
  passRate: number | null;
  ci95: [number | null, number | null];
  rewardMean: number | null;
  n: number | null;
  invalid: number;
  /** There is an evaluation behind this line. */
  evaluated: boolean;
}

/** Everything of a run's page except its episodes. */
export interface RunData {
  run: RunHead;
  metrics: Curves;
  evaluations: EvaluationRecord[];
  result: { lines: ResultLine[]; multiTool: number | null; toolLearning: number | null };
  alarms: { step: number; names: string[] }[];
  tasks: TaskRow[];
  /** Rows that the table does not hold. */
  tasksLeftOut: number;
  episodes: { total: number; invalid: number };
  /** What is missing or shortened, in sentences. */
  notes: string[];
}

/** What `report.html` embeds. */
export interface EmbeddedRun {
  data: RunData;
  groups: GroupView[];
  /** Filter -> indexes into `groups`, in its order. */
  choices: Record<GroupFilter, number[]>;
}

/** One run of a comparison. */
export interface ComparedRun {
  name: string;
  data: Pick<RunData, 'run' | 'metrics' | 'evaluations' | 'result'>;
}
