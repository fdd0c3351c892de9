import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy, type LoadOptions } from '../../lib/policy/index.js';
import { skipAloud } from '../harness.js';
import { temporaryFolder } from '../model/fixture-folder.js';
import { difference, modelFolder, MODELS, readExpected } from '../numeric/fixtures.js';
import { fixtureRows } from '../policy/rows.js';

const SCRIPT = fileURLToPath(new URL('score_model.py', import.meta.url));
const python = process.env.GRPO_TEST_PYTHON ?? 'python3';
const ALL = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];

interface Scores {
  models: { logprobs: number[][]; tied: boolean }[];
  adapters: number[][][];
  made: number[][];
}

function score(jobs: Record<string, unknown>): Scores {
  const path = join(temporaryFolder(), 'jobs.json');
  writeFileSync(path, JSON.stringify(jobs));
  const env = { ...process.env, HF_HUB_OFFLINE: '1' };
  const run = spawnSync(python, [SCRIPT, path], { encoding: 'utf8', env });
  assert.is(run.status, 0, run.stderr);
  assert.not.match(run.stderr, /newly initialized|missing adapter keys|unexpected|not used when/i);
  return JSON.parse(run.stdout.trim().split('\n').at(-1)!) as Scores;
}

async function trained(name: string, options: LoadOptions): Promise<Policy> {
  const policy = await Policy.load(modelFolder(name), options);
  for (let step = 0; step < 2; step++) {
    await policy.update({ rows: fixtureRows(name), optimizer: { learningRate: 3e-3 } });
  }
  return policy;
}

const close = (found: ArrayLike<number>[], wanted: ArrayLike<number>[], what: string) => {
  const { max, mean } = difference(found, wanted);
  assert.ok(max < 1e-4 && mean < 1e-5, `${what}: max ${max}, mean ${mean}`);
};

if (spawnSync(python, ['-c', 'import peft, transformers']).status !== 0) {
  skipAloud(`${python} has no peft and transformers; set GRPO_TEST_PYTHON to a Python that has them`);
} else {
  for (const name of MODELS) {
    const { inputs } = readExpected(name);

    test(`${name}: exports and adapters have the same log-probs here, in transformers and in PEFT`, async () => {
      const base = modelFolder(name);
      const merged = await trained(name, { lora: { targetModules: ALL, rankStabilised: true } });
      const full = await trained(name, { train: 'full' });
      const adapted = await trained(name, { lora: { rank: 4, targetModules: ['q_proj', 'down_proj'] } });
      const [whole, sharded, adapter, fromPeft] = ['whole', 'sharded', 'adapter', 'peft'].map((folder) =>
        join(temporaryFolder(), folder),
      ) as [string, string, string, string];
      await merged.exportMerged(whole);
      await full.exportMerged(sharded, { maxShardBytes: 100_000 });
      await adapted.saveAdapter(adapter);
      const found = score({
        rows: inputs,
        base,
        models: [whole, sharded],
        adapters: [adapter],
        make_adapter: fromPeft,
      });

      close(await merged.logprobs(inputs), found.models[0]!.logprobs, 'merged adapter');
      close(await full.logprobs(inputs), found.models[1]!.logprobs, 'full weights in shards');
      for (const { tied } of found.models) assert.is(tied, name !== 'llama-tiny');
      close(await adapted.logprobs(inputs), found.adapters[0]!, 'an adapter trained here, in PEFT');
      const peft = await Policy.load(base, { adapter: fromPeft });
      close(await peft.logprobs(inputs), found.made, 'an adapter that PEFT saved, here');
      for (const logprobs of [found.models[0]!.logprobs, found.models[1]!.logprobs, found.adapters[0]!, found.made]) {
        assert.ok(difference(logprobs, readExpected(name).logprobs).max > 1e-2, 'it differs from the base');
      }
      for (const policy of [merged, full, adapted, peft]) await policy.close();
    });
  }
}

test.run();
