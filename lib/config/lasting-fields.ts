import { z } from 'zod';

/** One threshold of an alarm; 0 or 1 where the alarm can never sound is how to switch it off. */
const threshold = (schema: z.ZodNumber, value: number, description: string, unit?: string) =>
  schema.default(value).meta({ description, ...(unit === undefined ? {} : { unit }) });

/** Thresholds of the warnings that a step can give. */
export const alarms = z.strictObject({
  entropyMin: threshold(z.number().min(0), 0.01, 'Warn when the mean entropy falls below this.', 'nats a token'),
  klMax: threshold(z.number().min(0), 1, 'Warn when the KL to the reference rises above this.', 'nats a token'),
  clipMax: threshold(z.number().min(0).max(1), 0.3, 'Warn when a larger share of tokens is clipped.'),
  truncatedMax: threshold(z.number().min(0).max(1), 0.5, 'Warn when a larger share of episodes is cut by its length.'),
  constantMax: threshold(z.number().min(0).max(1), 0.9, 'Warn when a larger share of groups has equal rewards.'),
  invalidMax: threshold(z.number().min(0).max(1), 0.1, 'Warn when a larger share of episodes is invalid.'),
  gapMax: threshold(
    z.number().min(0),
    0.05,
    'Warn when sampler and trainer differ by more on the same tokens.',
    'nats a token',
  ),
});

const optional = <T extends z.ZodType>(
  schema: T,
  notes: { description: string; unit?: string; shownDefault: string },
) => schema.optional().meta({ ...notes });

/** Keys for runs that last: saving, going on, ending. */
export const lastingFields = {
  saveEvery: optional(z.number().int().min(1), {
    description: 'Steps between checkpoints; one is always written at the end.',
    unit: 'steps',
    shownDefault: '1 while a checkpoint is under 200 MB, else 20',
  }),
  keepLast: z.number().int().min(1).default(3).meta({ description: 'Checkpoints that are kept.', unit: 'checkpoints' }),
  resume: optional(z.string().min(1), {
    description:
      'Go on with the run in this folder: its configuration, its newest whole checkpoint. Nothing else may change.',
    shownDefault: 'none',
  }),
  override: z
    .boolean()
    .default(false)
    .meta({ description: 'With resume: let other options given here replace those of the run.' }),
  patience: optional(z.number().int().min(1), {
    description: 'Stop after this many evaluations in a row without a better one.',
    unit: 'evaluations',
    shownDefault: 'never',
  }),
  maxHours: optional(z.number().positive(), {
    description: 'Stop (evaluated and saved) after the step with which this process has worked so long.',
    unit: 'hours',
    shownDefault: 'none',
  }),
  memoryGb: optional(z.number().positive(), {
    description:
      'Memory for weights, optimizer, caches and updates together; micro-batches and recomputation follow it.',
    unit: 'GB',
    shownDefault: 'what the machine has',
  }),
  alarms: alarms.prefault({}),
};
