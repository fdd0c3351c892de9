import { z } from 'zod';
import { lastingFields } from './lasting-fields.js';
import { modelFields, trainSchema } from './schema.js';

const { lora, optimizer, train, schedule, warmupSteps, microBatchTokens, output, loggers, quiet, json } =
  trainSchema.shape;
const { model, adapter, maxContext, seed, device, dtype, strict } = modelFields;
const { saveEvery, keepLast, resume, override, patience, maxHours, memoryGb } = lastingFields;

const described = <T extends z.ZodType>(schema: T, description: string, unit?: string) =>
  schema.meta({ description, ...(unit === undefined ? {} : { unit }) });

/** Every key of `sft`. */
export const sftSchema = z.strictObject({
  data: z.string().min(1).optional().meta({
    description:
      'JSONL (or .jsonl.gz): `{ messages, tools }`, `{ ids, mask }`, or trajectories.jsonl of a run; only what assistants wrote is learned.',
    shownDefault: 'needed',
  }),
  validation: z.string().min(1).optional().meta({
    description: 'File of the validation rows.',
    shownDefault: 'a seeded tenth of 10 rows or more, at most 50',
  }),
  minReward: z.number().optional().meta({
    description: 'Only trajectories with at least this reward.',
    shownDefault: 'all that are valid',
  }),
  model,
  adapter,
  epochs: described(z.number().positive().default(1), 'Times that every row is learned.'),
  batchRows: described(z.number().int().min(1).default(16), 'Rows of one update.', 'rows'),
  train,
  lora,
  optimizer,
  schedule,
  warmupSteps,
  microBatchTokens,
  evalEvery: described(
    z.number().int().min(0).default(20),
    'Steps between validations; 0 = only at the start and the end.',
    'steps',
  ),
  maxContext,
  seed,
  device,
  dtype,
  strict,
  saveEvery,
  keepLast,
  resume,
  override,
  patience,
  maxHours,
  memoryGb,
  output,
  loggers,
  quiet,
  json,
});

export type SftConfig = z.output<typeof sftSchema>;
/** What `sft()` takes: every key but `model` and `data` may be left out. */
export type SftInput = z.input<typeof sftSchema>;
