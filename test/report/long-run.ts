import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { TOKENIZER_FOLDER } from './synthetic-run.js';

const SAMPLES = 8;
const TOKENS = 6_000;

const line = (step: number, group: number, sample: number): string => {
  const ids = `[${'20,31,'.repeat(TOKENS / 2 - 1)}20,31]`;
  const mask = `[${'0,1,'.repeat(TOKENS / 2 - 1)}0,1]`;
  const logprobs = `[${'null,-0.123456789,'.repeat(TOKENS / 2 - 1)}-1.5]`;
  const turns = [
    { role: 'user', text: 'task '.repeat(5_000) },
    {
      role: 'assistant',
      text: 'word '.repeat(4_000),
      start: 1,
      tokens: 1,
      calls: [],
      observations: ['seen '.repeat(9_000)],
    },
  ];
  const value = ((step * 7 + sample * 3) % 11) / 10;
  const tail = JSON.stringify({
    turns,
    reward: { value, parts: { passed: value } },
    advantage: 0.5,
    finish: 'done',
    invalid: null,
    passed: value > 0.5,
  });
  return `{"step":${step},"task":"t${(step * 3 + group) % 40}","group":${group},"sample":${sample},"ids":${ids},"mask":${mask},"logprobs":${logprobs},${tail.slice(1)}\n`;
};

function* lines(from: number, to: number, groups: number): Generator<string> {
  for (let step = from; step <= to; step++) {
    for (let group = 0; group < groups; group++)
      for (let sample = 0; sample < SAMPLES; sample++) yield line(step, group, sample);
  }
}

/** Writes a run of long episodes: half of them in a compressed part. Gives its uncompressed bytes. */
export async function writeLongRun(
  folder: string,
  { steps, groups }: { steps: number; groups: number },
): Promise<number> {
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ config: { model: TOKENIZER_FOLDER, steps }, workingFolder: folder }),
  );
  const metric = (step: number) =>
    JSON.stringify({ step, seconds: 1, reward_mean: step / steps, pass_rate: 0.5, tokens_sampled: 10, alarms: [] });
  const metricSteps = 10 * steps;
  writeFileSync(
    join(folder, 'metrics.jsonl'),
    Array.from({ length: metricSteps }, (_, index) => `${metric(index + 1)}\n`).join(''),
  );
  const half = Math.floor(steps / 2);
  const part = createWriteStream(join(folder, 'trajectories-0001.jsonl.gz'));
  await pipeline(Readable.from(lines(1, half, groups)), createGzip({ level: 1 }), part);
  await pipeline(Readable.from(lines(half + 1, steps, groups)), createWriteStream(join(folder, 'trajectories.jsonl')));
  return steps * groups * SAMPLES * Buffer.byteLength(line(1, 0, 0));
}
