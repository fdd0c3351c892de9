import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readAdapter } from '../../lib/model/adapter.js';
import { writeAdapter } from '../../lib/model/adapter-writer.js';
import { projectionPath, projectionShape, readModelConfig, type Projection } from '../../lib/model/config.js';
import { skipAloud } from '../harness.js';
import { fixturePath, temporaryFolder } from '../model/fixture-folder.js';

interface Loaded {
  difference: number;
  scaling: number[];
  dropout: number;
  base: string;
  sums: Record<string, number>;
  firsts: Record<string, number>;
  shapes: Record<string, number[]>;
}

const SCRIPT = fileURLToPath(new URL('load_adapter.py', import.meta.url));
const python = process.env.GRPO_TEST_PYTHON ?? 'python3';
const probe = spawnSync(python, ['-c', 'import peft, transformers']);

async function roundTrip(layers: number[], targetModules: Projection[], rankStabilised: boolean) {
  const model = fixturePath('llama-tiny');
  const config = await readModelConfig(model);
  // A plain linear congruential sequence: numbers that are all different, the same in every run.
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647 - 0.5;
  const tensors = layers.flatMap((layer) =>
    targetModules.flatMap((projection) => {
      const [out, input] = projectionShape(config, projection);
      return (['lora_A', 'lora_B'] as const).map((side) => {
        const shape = side === 'lora_A' ? [4, input] : [out, 4];
        const data = Float32Array.from({ length: shape[0]! * shape[1]! }, random);
        return { name: `layers.${layer}.${projection}.${side}`, shape, data };
      });
    }),
  );
  const folder = join(temporaryFolder(), 'adapter');
  const resaved = join(temporaryFolder(), 'resaved');
  const settings = { rank: 4, alpha: 6, dropout: 0.05, rankStabilised, targetModules, layers };
  await writeAdapter(folder, { ...settings, modelLayers: config.layers, baseModel: 'org/name', tensors });
  const run = spawnSync(python, ['-W', 'error::UserWarning:peft', SCRIPT, model, folder, resaved], {
    encoding: 'utf8',
    env: { ...process.env, HF_HUB_OFFLINE: '1' },
  });
  assert.is(run.status, 0, run.stderr);
  assert.not.match(run.stderr, /missing adapter keys|Unexpected keyword/);
  const loaded = JSON.parse(run.stdout.trim().split('\n').at(-1)!) as Loaded;
  return { config, settings, tensors, loaded, resaved };
}

if (probe.status !== 0) {
  skipAloud(`${python} has no peft and transformers; set GRPO_TEST_PYTHON to a Python that has them`);
} else {
  for (const rankStabilised of [false, true]) {
    const layers = rankStabilised ? [0, 2] : [0, 1, 2];
    const targets: Projection[] = rankStabilised ? ['k_proj', 'down_proj'] : ['q_proj', 'v_proj', 'o_proj', 'up_proj'];
    test(`PEFT loads what is saved here on ${targets.join(', ')} of layers ${layers.join(', ')}, and back`, async () => {
      const { config, settings, tensors, loaded, resaved } = await roundTrip(layers, targets, rankStabilised);
      assert.ok(loaded.difference > 1e-3, `the adapter changes the logits (${loaded.difference})`);
      assert.equal(loaded.scaling, [rankStabilised ? 3 : 1.5]);
      assert.is(loaded.dropout, 0.05);
      assert.is(loaded.base, 'org/name');
      assert.is(Object.keys(loaded.sums).length, tensors.length);
      for (const { name, shape, data } of tensors) {
        const [, layer, projection, side] = name.split('.') as [string, string, Projection, string];
        const peft = `base_model.model.model.layers.${layer}.${projectionPath(projection)}.${side}.default.weight`;
        assert.equal(loaded.shapes[peft], shape);
        assert.is(loaded.firsts[peft], data[0]);
        const sum = data.reduce((total, value) => total + value, 0);
        assert.ok(Math.abs(loaded.sums[peft]! - sum) < 1e-9, `${peft}: ${loaded.sums[peft]} against ${sum}`);
      }
      const back = await readAdapter(resaved, config, 0);
      assert.equal(back.layers, settings.layers);
      assert.equal(back.targetModules, targets);
      assert.is(back.scaling, rankStabilised ? 3 : 1.5);
      const bytes = readFileSync(back.file.path);
      for (const { name, data } of tensors) {
        const { offset, byteLength } = back.tensors[name]!;
        assert.ok(bytes.subarray(offset, offset + byteLength).equals(Buffer.from(data.buffer)), name);
      }
    });
  }
}

test.run();
