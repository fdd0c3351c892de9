/**
 * Makes `models/demo`: tokenizer, traces, a fresh model, supervised training of every weight, and the folder.
 *
 *   npx tsx models/make/main.ts [OUTPUT]
 */
import { createWriteStream } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sft } from '../../lib/index.js';
import { writeFreshModel } from './folder.js';
import { writeTokenizer } from './tokenizer.js';
import { traces } from './traces.js';

const SEED = 1;
const STEPS = 700;
const BATCH_ROWS = 128;
const VALIDATION_ROWS = 512;
const SHAPE = { hiddenSize: 128, layers: 3, heads: 4, intermediateSize: 384, maxContext: 512 };

async function writeTraces(path: string, rows: number, seed: number): Promise<string[]> {
  const output = createWriteStream(path);
  const texts: string[] = [];
  let written = 0;
  for await (const messages of traces(seed)) {
    if (written++ === rows) break;
    output.write(`${JSON.stringify({ messages })}\n`);
    if (texts.length < 20_000) texts.push(messages.map(({ role, content }) => `${role}\n${content}\n`).join(''));
  }
  await new Promise<void>((resolve, reject) =>
    output.end((error?: Error | null) => (error ? reject(error) : resolve())),
  );
  return texts;
}

async function main(output: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'grpo-demo-'));
  const [start, data, validation] = [
    join(scratch, 'start'),
    join(scratch, 'data.jsonl'),
    join(scratch, 'validation.jsonl'),
  ];
  await mkdir(start);
  const texts = await writeTraces(data, STEPS * BATCH_ROWS, SEED);
  await writeTraces(validation, VALIDATION_ROWS, SEED + 1);
  const vocabSize = await writeTokenizer(start, texts);
  const parameters = await writeFreshModel(start, vocabSize, SHAPE, SEED);
  process.stdout.write(`${vocabSize} tokens, ${parameters} parameters\n`);
  const { run } = await sft({
    model: start,
    data,
    validation,
    train: 'full',
    epochs: 1,
    batchRows: BATCH_ROWS,
    optimizer: { learningRate: 3e-3, weightDecay: 0.01 },
    schedule: 'cosine',
    warmupSteps: 50,
    evalEvery: 200,
    saveEvery: 10_000,
    seed: SEED,
    output: join(scratch, 'run'),
  });
  await mkdir(output, { recursive: true });
  await cp(join(run, 'adapter'), output, { recursive: true });
  await rm(scratch, { recursive: true });
}

main(process.argv[2] ?? join(import.meta.dirname, '..', 'demo')).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
