import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What test/fixtures/gen_models.py wrote for one model; its docstring explains each key. */
export interface Expected {
  inputs: number[][];
  logprobs: number[][];
  last_logits: number[];
  greedy: number[][];
  lora: {
    logprobs: number[][];
    reference_logprobs: number[][];
    update: {
      mask: number[][];
      advantages: number[];
      old_logprobs: number[][];
      beta: number;
      clip_low: number;
      clip_high: number;
      optimizer: { lr: number; betas: [number, number]; eps: number; weight_decay: number; max_grad_norm: number };
      loss: number;
      mean_kl: number;
      grad_norm: number;
      logprobs_after: number[][];
    };
  };
}

const FIXTURES = join(import.meta.dirname, '../fixtures');
export const MODELS = ['llama-tiny', 'qwen2-tiny', 'qwen3-tiny'] as const;

export const modelFolder = (name: string): string => join(FIXTURES, 'models', name);
export const readExpected = (name: string): Expected =>
  JSON.parse(readFileSync(join(modelFolder(name), 'expected.json'), 'utf8')) as Expected;
export const readFixture = <T>(name: string): T => JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as T;

/** Largest and mean absolute difference of ragged arrays. */
export function difference(found: ArrayLike<number>[], expected: ArrayLike<number>[]): { max: number; mean: number } {
  let max = 0;
  let sum = 0;
  let count = 0;
  expected.forEach((row, b) => {
    if (found[b]?.length !== row.length)
      throw new Error(`row ${b}: ${found[b]?.length} entries, expected ${row.length}`);
    for (let t = 0; t < row.length; t++) {
      const d = Math.abs((found[b]?.[t] ?? NaN) - (row[t] ?? NaN));
      max = d > max || Number.isNaN(d) ? d : max;
      sum += d;
      count++;
    }
  });
  return { max, mean: sum / count };
}
