import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy } from '../../lib/policy/index.js';
import { modelFolder } from '../numeric/fixtures.js';

function copyOf(name: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'grpo-bad-')), name);
  cpSync(modelFolder(name), folder, { recursive: true });
  return folder;
}

async function failure(folder: string, options?: object): Promise<{ code?: string; message: string }> {
  return Policy.load(folder, options).then(
    async (policy) => {
      await policy.close();
      return { message: 'loaded' };
    },
    (error: unknown) => error as { code: string; message: string },
  );
}

/** Overwrites one float of a tensor in a safetensors file. */
function poison(path: string, tensor: string, value: number): void {
  const file = readFileSync(path);
  const headerBytes = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + headerBytes).toString()) as Record<
    string,
    { data_offsets: [number, number] }
  >;
  file.writeFloatLE(value, 8 + headerBytes + (header[tensor]?.data_offsets[0] as number) + 40);
  writeFileSync(path, file);
}

test('a weight that is NaN or infinite is found at load, with its name and file', async () => {
  for (const value of [NaN, Infinity]) {
    const folder = copyOf('llama-tiny');
    poison(join(folder, 'model.safetensors'), 'model.layers.1.mlp.up_proj.weight', value);
    const { code, message } = await failure(folder);
    assert.is(code, 'INVALID_MODEL');
    assert.match(message, /^\[load\] layers\.1\.up_proj\.weight in .*model\.safetensors holds NaN or infinite values/);
  }
});

test('an adapter with a NaN is refused as an adapter', async () => {
  const folder = copyOf('qwen2-tiny');
  const tensor = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight';
  poison(join(folder, 'adapter/adapter_model.safetensors'), tensor, NaN);
  const { code, message } = await failure(folder, { adapter: join(folder, 'adapter') });
  assert.is(code, 'INVALID_ADAPTER');
  assert.match(message, /layers\.0\.q_proj\.lora_A in .* holds NaN/);
});

test('a cut, empty or missing weight file is one clear error', async () => {
  const cut = copyOf('llama-tiny');
  truncateSync(join(cut, 'model.safetensors'), 300_000);
  assert.is((await failure(cut)).code, 'INVALID_MODEL');
  assert.match((await failure(cut)).message, /model\.safetensors/);
  const empty = copyOf('llama-tiny');
  truncateSync(join(empty, 'model.safetensors'), 0);
  assert.is((await failure(empty)).code, 'INVALID_MODEL');
  const missing = copyOf('llama-tiny');
  rmSync(join(missing, 'model.safetensors'));
  assert.is((await failure(missing)).code, 'INVALID_MODEL');
});

test("another model's weights and another model's adapter are refused by name and shape", async () => {
  const folder = copyOf('llama-tiny');
  cpSync(join(modelFolder('qwen3-tiny'), 'model.safetensors'), join(folder, 'model.safetensors'));
  assert.is((await failure(folder)).code, 'INVALID_MODEL');
  const { code, message } = await failure(modelFolder('qwen3-tiny'), {
    adapter: join(modelFolder('llama-tiny'), 'adapter'),
  });
  assert.is(code, 'INVALID_ADAPTER');
  assert.match(message, /expected|should|must|shape/);
});

test('a folder that is not there, and one without config.json, say so', async () => {
  assert.match((await failure('/nowhere/at/all')).message, /nowhere/);
  const folder = copyOf('llama-tiny');
  rmSync(join(folder, 'config.json'));
  assert.match((await failure(folder)).message, /config\.json/);
});

test('the policy stays usable after an error in any call', async () => {
  const policy = await Policy.load(modelFolder('llama-tiny'));
  const session = await policy.open([1, 2, 3]);
  await session.append([99999]).then(
    () => assert.unreachable('appended an id outside the vocabulary'),
    (error: unknown) => assert.is((error as { code: string }).code, 'INVALID_ARGUMENT'),
  );
  assert.is(session.length, 3);
  assert.is((await session.generate({ maxNewTokens: 2, stopIds: [] })).ids.length, 2);
  await policy.close();
});

test.run();
