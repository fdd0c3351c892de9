import { z } from 'zod';
import { modelFields } from './schema.js';

const { model, adapter, device, dtype, strict, sandbox, allowUnsandboxed, python } = modelFields;

/** What `bench` can measure. */
export const BENCH_PARTS = ['policy', 'sandbox', 'docs'] as const;

/** Every key of `bench`. */
export const benchSchema = z.strictObject({
  model: model.meta({
    description: 'Hugging Face model folder, hub id, or `embedded:demo`.',
    shownDefault: '`embedded:demo`',
  }),
  adapter,
  device,
  dtype,
  strict,
  parts: z
    .array(z.enum(BENCH_PARTS))
    .min(1)
    .default([...BENCH_PARTS])
    .meta({ description: 'What is measured.' }),
  newTokens: z.number().int().min(2).default(64).meta({
    description: 'New tokens of each sequence; less where the context is shorter.',
    unit: 'tokens',
  }),
  rounds: z.number().int().min(1).default(3).meta({
    description: 'Measured rounds after one to warm up; the one in the middle counts.',
    unit: 'rounds',
  }),
  programs: z.number().int().min(1).default(100).meta({
    description: 'Programs that the sandbox runs.',
    unit: 'programs',
  }),
  sandbox,
  allowUnsandboxed,
  python,
  json: z.boolean().default(false).meta({ description: 'Print the results as one JSON object.' }),
});

export type BenchConfig = z.output<typeof benchSchema>;
/** What `bench()` takes: every key may be left out. */
export type BenchInput = z.input<typeof benchSchema>;
