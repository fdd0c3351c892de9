import { z } from 'zod';
import { lastingFields } from './lasting-fields.js';
import type { Environment, Reward, Tool } from '../environments/types.js';

/** What a field's entry in the documentation says beside its type and range. */
interface FieldNotes {
  /** One sentence. */
  description: string;
  unit?: string;
  /** Shown as the default where the value is decided later. */
  shownDefault?: string;
  /** What a value has to be, where type, choices and range do not say it: `must be …`. */
  wording?: string;
}

/** A field with a default. */
const withDefault = <T extends z.ZodType>(schema: T, value: z.util.NoUndefined<z.output<T>>, notes: FieldNotes) =>
  schema.default(value).meta({ ...notes });

/** A field that may be left out. */
const optional = <T extends z.ZodType>(schema: T, notes: FieldNotes) => schema.optional().meta({ ...notes });

const count = (minimum: number) => z.number().int().min(minimum);
const isObject = (value: unknown) => typeof value === 'object' && value !== null;
const environmentObject = z.custom<Environment>(isObject);
const toolObject = z.custom<Tool>(isObject);
const rewardObject = z.custom<Reward>(isObject);

const lora = z.strictObject({
  rank: optional(count(1).max(1024), { description: 'Rank of the adapter matrices.', shownDefault: '16' }),
  alpha: optional(z.number().positive(), {
    description: 'Scale: the branch is multiplied by alpha / rank.',
    shownDefault: '32',
  }),
  dropout: optional(z.number().min(0).lt(1), {
    description: 'Dropout before the branch; above 0 the sampler and the trainer no longer agree exactly.',
    shownDefault: '0',
  }),
  targetModules: optional(
    z.array(z.enum(['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'])).min(1),
    { description: 'Linear layers that carry a branch.', shownDefault: 'q_proj,v_proj' },
  ),
});

const correction = z.strictObject({
  kind: optional(z.enum(['truncate', 'mask']), {
    description: 'Importance correction of the sampler/trainer mismatch: cap the weights, or leave tokens out.',
    shownDefault: 'no correction',
  }),
  level: optional(z.enum(['token', 'sequence', 'geometric']), {
    description: 'Weights per token, per row, or the geometric mean of a row.',
    shownDefault: 'token',
  }),
  low: optional(z.number().min(0), { description: 'Smallest weight that stays (kind mask).', shownDefault: '0' }),
  high: optional(z.number().positive(), { description: 'Largest weight.', shownDefault: '2' }),
});

const loss = z.strictObject({
  policy: optional(z.enum(['clip', 'cispo', 'sapo']), {
    description: 'Form of the policy term.',
    shownDefault: 'clip',
  }),
  ratio: optional(z.enum(['token', 'sequence']), {
    description: 'One probability ratio a token, or one a row (GSPO, LUSPO).',
    shownDefault: 'token',
  }),
  aggregation: optional(z.enum(['token-mean', 'sequence-mean', 'sequence-sum-mean', 'constant']), {
    description: 'How token terms become one number.',
    shownDefault: 'token-mean',
  }),
  clipLow: optional(z.number().min(0), { description: 'Lower clip width of the ratio.', shownDefault: '0.2' }),
  clipHigh: optional(z.number().min(0), { description: 'Upper clip width of the ratio.', shownDefault: '0.28' }),
  clipRatioMax: optional(z.number().positive(), {
    description: 'Cap of the ratio where the advantage is negative.',
    shownDefault: 'none',
  }),
  cispoMax: optional(z.number().positive(), { description: 'Absolute cap of the CISPO weight.', shownDefault: 'none' }),
  cispoRelative: optional(z.boolean(), {
    description: 'CISPO weights are clipped by clipLow and clipHigh.',
    shownDefault: 'false',
  }),
  sapoTemperaturePositive: optional(z.number().positive(), {
    description: 'SAPO gate temperature for positive advantages.',
    shownDefault: '1',
  }),
  sapoTemperatureNegative: optional(z.number().positive(), {
    description: 'SAPO gate temperature for other advantages.',
    shownDefault: '1.05',
  }),
  kl: optional(z.enum(['k2', 'k3']), { description: 'Estimator of the KL term.', shownDefault: 'k3' }),
  klCoefficient: optional(z.number().min(0), {
    description: 'Weight of the KL to the reference; 0 saves the reference pass.',
    shownDefault: '0',
  }),
  klImportanceCorrected: optional(z.boolean(), {
    description: 'Multiplies the KL term by the ratio, gradient included.',
    shownDefault: 'false',
  }),
  entropyCoefficient: optional(z.number().min(0), { description: 'Weight of the entropy bonus.', shownDefault: '0' }),
  correction: correction.optional(),
  horizon: optional(z.number().positive(), {
    description: 'Tokens a row is divided by with aggregation constant (Dr.GRPO).',
    unit: 'tokens',
    shownDefault: 'none',
  }),
});

const advantage = z.strictObject({
  scale: withDefault(z.enum(['group', 'batch', 'none']), 'group', {
    description: 'What the centred rewards are divided by: the deviation of the group, of the batch, or nothing.',
  }),
  epsilon: withDefault(z.number().min(0), 1e-4, { description: 'Added to that deviation.' }),
});

const optimizer = z.strictObject({
  learningRate: withDefault(z.number().min(0), 5e-6, { description: 'Learning rate of AdamW at its highest.' }),
  betas: withDefault(z.tuple([z.number().min(0).lt(1), z.number().min(0).lt(1)]), [0.9, 0.999], {
    description: 'Decay of the two moments.',
    wording: 'two numbers >= 0 and < 1',
  }),
  epsilon: withDefault(z.number().positive(), 1e-8, { description: 'Added to the root of the second moment.' }),
  weightDecay: withDefault(z.number().min(0), 0, { description: 'Decoupled weight decay.' }),
  maxGradNorm: withDefault(z.number().positive(), 1, { description: 'Gradients are scaled down to this norm.' }),
});

/** Keys that `train`, `eval` and `generate` have in common. */
export const modelFields = {
  model: optional(z.string().min(1), {
    description: 'Hugging Face model folder, hub id, or `embedded:demo`, the small model of the demo.',
    shownDefault: 'needed, but for the demo',
  }),
  adapter: optional(z.string().min(1), { description: 'PEFT adapter folder to start from.', shownDefault: 'none' }),
  tasks: optional(z.string().min(1), {
    description:
      'Tasks: a JSONL or Parquet file, or a data set of the hub (`organisation/name`, `hub:organisation/name`).',
    shownDefault: 'needed by code-agent',
  }),
  difficulty: optional(z.array(z.enum(['easy', 'medium', 'hard'])).min(1), {
    description: 'Only tasks of these difficulties; records that name none are left out.',
    shownDefault: 'all',
  }),
  passPercentage: optional(z.tuple([z.number().min(0).max(1), z.number().min(0).max(1)]), {
    description: "Only tasks whose record says that this share (least, most) of its author model's attempts passed.",
    wording: 'two numbers between 0 and 1',
    shownDefault: 'all',
  }),
  callFormat: optional(z.enum(['auto', 'tags', 'hermes', 'qwen-xml', 'llama-json']), {
    description: "How tool calls are written; auto = the form of the model's chat template.",
    shownDefault: "tags for code-agent, else the environment's own choice (auto)",
  }),
  maxNoCallTurns: optional(count(1), {
    description: 'Turns without a call after which an episode ends; a line that asks for one answers those before.',
    unit: 'turns',
    shownDefault: "no limit for code-agent, else the environment's own",
  }),
  environment: withDefault(z.union([z.string().min(1), environmentObject]), 'code-agent', {
    description:
      'What an episode is: `code-agent`, `demo` (small tasks with a documentation of their own), or a module whose default export is an environment.',
    wording: 'code-agent, the path of a module, or an environment',
  }),
  maxNewTokens: withDefault(count(1), 1024, { description: 'New tokens of one turn at most.', unit: 'tokens' }),
  maxContext: optional(count(8), {
    description: 'Tokens of a whole episode at most.',
    unit: 'tokens',
    shownDefault: "the model's own limit",
  }),
  topP: withDefault(z.number().gt(0).max(1), 1, { description: 'Nucleus mass that is sampled from.' }),
  topK: withDefault(count(0), 0, { description: 'Number of likeliest tokens that are sampled from; 0 = all.' }),
  minP: withDefault(z.number().min(0).lt(1), 0, {
    description: 'Tokens under this share of the largest probability are not sampled.',
  }),
  seed: withDefault(count(0), 42, { description: 'Seed of everything that is drawn.' }),
  device: withDefault(z.string().regex(/^(auto|cpu|cuda(:\d+)?)$/), 'auto', {
    description: 'auto, cpu, cuda or cuda:N.',
    wording: 'auto, cpu, cuda or cuda:N',
  }),
  dtype: withDefault(z.enum(['auto', 'float32', 'bfloat16']), 'auto', {
    description: "Type of the weights; auto = the file's.",
  }),
  strict: withDefault(z.boolean(), false, {
    description: 'Batch-invariant float32: the same seed gives the same tokens whatever else runs.',
  }),
  sandbox: withDefault(z.enum(['auto', 'bubblewrap', 'container', 'pyodide', 'process']), 'auto', {
    description: 'Where Python programs run.',
  }),
  sandboxImage: optional(z.string().min(1), {
    description: 'Image of the container sandbox; it must be on the machine already.',
    shownDefault: 'python:3.12-slim',
  }),
  sandboxEngine: optional(z.enum(['docker', 'podman']), {
    description: 'What runs the containers.',
    shownDefault: 'the first of docker and podman that works',
  }),
  allowUnsandboxed: withDefault(z.boolean(), false, {
    description: 'Lets model-written programs run as plain processes of this user where no sandbox is found.',
  }),
  python: withDefault(z.string().min(1), 'python3', { description: 'Interpreter that the sandbox runs.' }),
  concurrency: optional(count(1), {
    description: 'Episodes that run at the same time.',
    unit: 'episodes',
    shownDefault: 'all of a step, at most 64',
  }),
};

/** Where a run can be logged to, beside its own folder. */
export const LOGGER_NAMES = ['tensorboard', 'wandb', 'jsonl'] as const;
export type LoggerName = (typeof LOGGER_NAMES)[number];

/** Every key of `train`, with default, range, unit and meaning: types, checks, flags and docs come from here. */
export const trainSchema = z.strictObject({
  preset: optional(z.enum(['demo', 'tutorial', 'trl']), {
    description: 'Named set of values that others override.',
    shownDefault: 'none; demo where neither model nor tasks nor environment is given',
  }),
  ...modelFields,
  evalTasks: optional(z.string().min(1), {
    description: 'Task file of the evaluations.',
    shownDefault: 'a seeded tenth of tasks, at most 50, held out',
  }),
  taskLimit: optional(count(1), {
    description: 'Train on this many tasks only, chosen by the seed.',
    unit: 'tasks',
    shownDefault: 'all',
  }),
  tools: optional(z.array(z.union([z.string(), toolObject])).min(1), {
    description: "Tools to offer: names of the environment's, or (in a module) tools of your own.",
    wording: 'a list of one or more tools or names of tools',
    shownDefault: "the environment's",
  }),
  rewards: optional(z.array(z.union([z.string(), rewardObject])).min(1), {
    description:
      "Rewards to add up: names of the environment's (`name:weight` for a weight), or (in a module) your own.",
    wording: 'a list of one or more rewards or names of rewards',
    shownDefault: "the environment's",
  }),
  steps: withDefault(count(0), 100, { description: 'Training steps.', unit: 'steps' }),
  promptsPerStep: withDefault(count(1), 4, { description: 'Tasks of one step.', unit: 'tasks' }),
  groupSize: withDefault(count(2), 8, {
    description: 'Episodes of one task that are compared with each other.',
    unit: 'episodes',
  }),
  maxTurns: optional(count(1), {
    description: 'Turns of an episode at most.',
    unit: 'turns',
    shownDefault: '5, or what an environment of your own says',
  }),
  maxSubmissions: withDefault(count(0), 3, {
    description: 'Submissions of a training episode at most; 0 = any number.',
    unit: 'submissions',
  }),
  keepOrder: withDefault(z.boolean(), true, {
    description: 'Refuse rewards under which an episode that fails could earn as much as one that passes.',
  }),
  searchCost: withDefault(z.number().min(0).max(0.1), 0, {
    description: 'Reward that a passing episode loses for every search: without it needless searches cost nothing.',
  }),
  distinctSearches: withDefault(z.boolean(), false, { description: 'The search bonus counts different queries only.' }),
  temperature: withDefault(z.number().gt(0), 1, { description: 'Sampling temperature, also of the loss.' }),
  train: withDefault(z.enum(['lora', 'full']), 'lora', {
    description: 'What is trained: an adapter, or every weight (float32, 200 million at most).',
  }),
  lora: lora.prefault({}),
  reference: withDefault(z.enum(['start', 'base']), 'start', {
    description: 'What the KL pulls to: the weights at the start, or the base model.',
  }),
  loss: loss.prefault({}),
  advantage: advantage.prefault({}),
  constantGroups: withDefault(z.enum(['drop', 'keep']), 'drop', {
    description: 'Whether groups whose rewards are all equal leave the update.',
  }),
  invalidLimit: withDefault(z.number().gt(0).max(1), 0.5, {
    description: 'Share of invalid episodes in a step above which the run stops.',
  }),
  optimizer: optimizer.prefault({}),
  schedule: withDefault(z.enum(['constant', 'cosine', 'linear']), 'constant', {
    description: 'Course of the learning rate after the warm-up.',
  }),
  warmupSteps: withDefault(count(0), 0, {
    description: 'Steps in which the learning rate rises linearly.',
    unit: 'steps',
  }),
  gradientAccumulation: withDefault(count(1), 1, {
    description: 'Batches of promptsPerStep tasks that are sampled one after the other and make one update together.',
    unit: 'batches',
  }),
  microBatchTokens: optional(count(1), {
    description: 'Tokens of a micro-batch at most; it changes memory and speed, never the gradient.',
    unit: 'tokens',
    shownDefault: "the policy's",
  }),
  evalEvery: withDefault(count(0), 20, {
    description: 'Steps between evaluations; 0 = only at the start and the end.',
    unit: 'steps',
  }),
  evalSamples: withDefault(count(1), 1, { description: 'Episodes a task in an evaluation.', unit: 'episodes' }),
  evalModes: optional(z.array(z.enum(['no-tools', 'code-only', 'multi-tool'])).min(1), {
    description:
      'Modes of the evaluation at step 0; later ones take the last of them, the one at the end no-tools too.',
    shownDefault: 'all three for code-agent',
  }),
  output: optional(z.string().min(1), { description: "The run's folder.", shownDefault: '`runs/<date>-<model>`' }),
  ...lastingFields,
  loggers: optional(z.array(z.enum(LOGGER_NAMES)).min(1), {
    description: 'Log the run elsewhere, too; docs/loggers.md.',
    shownDefault: 'none',
  }),
  quiet: withDefault(z.boolean(), false, { description: 'Print nothing but errors.' }),
  json: withDefault(z.boolean(), false, { description: 'Print one JSON object a line instead of text.' }),
});

/** Every key of `eval`. */
export const evaluateSchema = z.strictObject({
  ...modelFields,
  taskLimit: optional(count(1), { description: 'Use the first so many tasks.', unit: 'tasks', shownDefault: 'all' }),
  shuffleTasks: withDefault(z.boolean(), false, {
    description: 'Shuffle the tasks by the seed first, so that taskLimit takes a sample.',
  }),
  checkReferences: withDefault(z.boolean(), true, {
    description:
      'Run the reference solutions first (results are kept on disk), and leave out tasks whose own one fails.',
  }),
  modes: optional(z.array(z.enum(['no-tools', 'code-only', 'multi-tool'])).min(1), {
    description: 'Modes to evaluate in.',
    shownDefault: 'all three for code-agent',
  }),
  samples: withDefault(count(1), 1, { description: 'Episodes a task.', unit: 'episodes' }),
  k: withDefault(z.union([z.array(count(1)).min(1), count(1)]), [1], {
    description: 'k of pass@k, or several of them (`1,5`), at most `samples`.',
    wording: 'a whole number >= 1, or a list of them',
  }),
  temperature: withDefault(z.number().min(0), 0, { description: 'Sampling temperature; 0 = greedy.' }),
  maxSubmissions: withDefault(count(0), 1, {
    description: 'Submissions of an episode at most; 0 = any number, labelled "with test feedback".',
    unit: 'submissions',
  }),
  invalidLimit: withDefault(z.number().gt(0).max(1), 0.5, {
    description: 'Share of invalid episodes above which the evaluation fails.',
  }),
  output: optional(z.string().min(1), {
    description: 'File for the results as JSON; finished episodes are kept beside it, in `<output>.episodes.jsonl`.',
    shownDefault: 'none',
  }),
  resume: withDefault(z.boolean(), false, { description: 'Go on with the finished episodes of an earlier `output`.' }),
  quiet: withDefault(z.boolean(), false, { description: 'Print nothing but errors.' }),
  json: withDefault(z.boolean(), false, { description: 'Print the results as JSON.' }),
});

/** Every key of `generate`. */
export const generateSchema = z.strictObject({
  ...modelFields,
  task: optional(z.string().min(1), { description: 'Id of the task to show.', shownDefault: 'the first' }),
  mode: withDefault(z.enum(['no-tools', 'code-only', 'multi-tool']), 'multi-tool', {
    description: 'Tools that are on.',
  }),
  temperature: withDefault(z.number().min(0), 0, { description: 'Sampling temperature; 0 = greedy.' }),
  maxSubmissions: withDefault(count(0), 1, {
    description: 'Submissions at most; 0 = any number.',
    unit: 'submissions',
  }),
  json: withDefault(z.boolean(), false, { description: 'Print the episode as JSON.' }),
});

export type TrainConfig = z.output<typeof trainSchema>;
/** What `train()` takes: every key may be left out. */
export type TrainInput = z.input<typeof trainSchema>;
export type EvaluateConfig = z.output<typeof evaluateSchema>;
export type EvaluateInput = z.input<typeof evaluateSchema>;
export type GenerateConfig = z.output<typeof generateSchema>;
export type GenerateInput = z.input<typeof generateSchema>;
export type ConfigSchema = z.ZodObject;
