import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deriveSeed, randomNumbers } from '../../lib/algorithms/index.js';
import { findCheckpoint } from '../../lib/run/index.js';
import { runTraining, timelessLines } from './run-training.js';
import { writeTinyModel } from './tiny-model.js';

/** GRPO_KILLS=100 is the long form. */
const KILLS = Number(process.env['GRPO_KILLS'] ?? 12);
const SEED = Number(process.env['GRPO_KILL_SEED'] ?? 1);
const STEPS = String(2 * KILLS + 6);
/** A third of the kills come while a process starts, the others while it steps, evaluates and saves: ms after the first line. */
const STARTING_MS = 2000;
const WORKING_MS = 500;
const LOGS = ['metrics.jsonl', 'evaluations.jsonl', 'trajectories.jsonl'];

const folder = mkdtempSync(join(tmpdir(), 'grpo-killed-'));
const model = join(folder, 'model');
const run = join(folder, 'run');
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Everything under its final name must be whole. */
async function checkFiles(lastStep: number): Promise<void> {
  const isRun = existsSync(join(run, 'config.json'));
  if (isRun) JSON.parse(readFileSync(join(run, 'config.json'), 'utf8'));
  for (const name of LOGS) {
    if (!existsSync(join(run, name))) continue;
    // Only what follows the last line's end may be half written.
    readFileSync(join(run, name), 'utf8')
      .split('\n')
      .slice(0, -1)
      .forEach((line) => JSON.parse(line) as unknown);
  }
  const broken: string[] = [];
  const found = isRun ? await findCheckpoint<unknown>(run, (message) => broken.push(message)) : undefined;
  assert.equal(broken, [], 'no checkpoint is half written');
  assert.ok((found?.record.step ?? 0) >= lastStep - 1, `step ${lastStep} was done, saved is ${found?.record.step}`);
}

test(`killed at ${KILLS} random moments, a run loses one step at most and ends as if nothing had happened`, async () => {
  await writeTinyModel(model);
  const random = randomNumbers(deriveSeed(SEED, 'kills'));
  let reached = 0;
  const at: number[] = [];
  let finished = false;
  for (let kill = 0; kill < KILLS && !finished; kill++) {
    const starting = kill % 3 === 0;
    const wait = random() * (starting ? STARTING_MS : WORKING_MS);
    let timer: NodeJS.Timeout | undefined;
    const resume = existsSync(join(run, 'config.json')) ? ['resume'] : [];
    const ended = await runTraining([run, model, STEPS, ...resume], (line, send) => {
      const step = /^step (\d+)$/.exec(line)?.[1];
      if (starting || step !== undefined) timer ??= setTimeout(() => send('SIGKILL'), wait);
      if (step !== undefined) reached = Math.max(reached, Number(step));
    });
    clearTimeout(timer);
    finished = ended.signal === null;
    if (finished) assert.is(ended.code, 0, ended.output);
    await checkFiles(reached);
    at.push(reached);
  }
  console.log(`killed after steps ${at.join(', ')} of ${STEPS}`);
  const last = await runTraining([run, model, STEPS, 'resume']);
  assert.is(last.code, 0, last.output);
  const whole = await runTraining([join(folder, 'whole'), model, STEPS]);
  assert.is(whole.code, 0, whole.output);
  for (const name of LOGS) assert.equal(timelessLines(run, name), timelessLines(join(folder, 'whole'), name), name);
  const weights = (of: string) => readFileSync(join(of, 'adapter', 'adapter_model.safetensors'));
  assert.ok(weights(run).equals(weights(join(folder, 'whole'))));
  const left = [...readdirSync(run), ...readdirSync(join(run, 'checkpoints'))];
  assert.equal(
    left.filter((name) => name.startsWith('.') || /\.(part|next|old)$/.test(name) || name === 'run.lock'),
    [],
    'nothing half done is left',
  );
});

test.run();
