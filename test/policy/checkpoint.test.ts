import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Policy, readCheckpoint, type LoadOptions } from '../../lib/policy/index.js';
import { copyModel, editJson, rejects, temporaryFolder } from '../model/fixture-folder.js';
import { modelFolder, readExpected } from '../numeric/fixtures.js';
import { changedTensors, fixtureRows, stateOf } from './rows.js';

const NAME = 'llama-tiny';
const MODEL = modelFolder(NAME);
const { inputs } = readExpected(NAME);
const rows = fixtureRows(NAME);
const update = { rows, loss: { klCoefficient: 0.05 }, optimizer: { learningRate: 1e-3 } };

const CASES: Record<string, LoadOptions> = {
  'a fresh adapter with dropout': { lora: { rank: 4, dropout: 0.1, targetModules: ['q_proj', 'down_proj'] }, seed: 7 },
  'a rank-stabilised adapter': { lora: { rank: 4, rankStabilised: true } },
  'an adapter that training started from': { adapter: join(MODEL, 'adapter') },
  'an adapter pulled to the base': { adapter: join(MODEL, 'adapter'), reference: 'base' },
  'an adapter in bfloat16': { adapter: join(MODEL, 'adapter'), dtype: 'bfloat16' },
  'full weights': { train: 'full' },
};

async function savedAfterTwo(options: LoadOptions) {
  const folder = join(temporaryFolder(), 'step-2');
  const policy = await Policy.load(MODEL, options);
  await policy.update(update);
  await policy.update(update);
  await policy.saveCheckpoint(folder);
  return { policy, folder };
}

for (const [what, options] of Object.entries(CASES)) {
  test(`${what}: update, save, resume, update equals two more updates without a stop, bit for bit`, async () => {
    const { policy, folder } = await savedAfterTwo(options);
    const session = await policy.open(inputs[0]!);
    const resumed = await Policy.load(MODEL, { resume: folder });
    assert.is(resumed.weightsVersion, 2);
    assert.equal(changedTensors(await stateOf(policy), await stateOf(resumed)), []);
    assert.is(resumed.nextSeed(), policy.nextSeed());
    for (const weights of ['policy', 'reference', 'base'] as const) {
      assert.equal(await resumed.logprobs(inputs, { weights }), await policy.logprobs(inputs, { weights }), weights);
    }
    const [went, on] = [await policy.update(update), await resumed.update(update)];
    assert.is(went.skipped, null);
    for (const key of ['loss', 'kl', 'entropy', 'gradNorm'] as const) assert.is(on[key], went[key], key);
    assert.equal(changedTensors(await stateOf(policy), await stateOf(resumed)), []);
    assert.is(resumed.weightsVersion, 3);
    session.close();
    await policy.close();
    await resumed.close();
  });
}

test('seeds go on where they were, so that what is sampled after a resume is what would have been sampled', async () => {
  const folder = join(temporaryFolder(), 'checkpoint');
  const policy = await Policy.load(MODEL, { seed: 5 });
  const sample = async (from: Policy) => {
    const session = await from.open(inputs[1]!);
    const { ids } = await session.generate({ maxNewTokens: 16, stopIds: [] });
    session.close();
    return Array.from(ids);
  };
  const first = await sample(policy);
  await policy.saveCheckpoint(folder);
  const second = await sample(policy);
  const resumed = await Policy.load(MODEL, { resume: folder });
  assert.equal(await sample(resumed), second);
  assert.not.equal(second, first);
  await policy.close();
  await resumed.close();
});

test('a large seed still gives every request a seed of its own', async () => {
  const policy = await Policy.load(MODEL, { seed: Number.MAX_SAFE_INTEGER });
  const seeds = new Set(Array.from({ length: 100 }, () => policy.nextSeed()));
  assert.is(seeds.size, 100);
  await policy.close();
});

test('a cold start from the same adapter differs: the moments matter', async () => {
  const { policy, folder } = await savedAfterTwo({ lora: { rank: 4 } });
  const cold = await Policy.load(MODEL, { adapter: join(folder, 'adapter'), reference: 'base' });
  await policy.update(update);
  await cold.update(update);
  const changed = changedTensors(await stateOf(policy), await stateOf(cold));
  assert.ok(
    changed.some((name) => name.endsWith('lora_A.weight')),
    changed.join(),
  );
  await policy.close();
  await cold.close();
});

test('the folder holds what it says: PEFT adapters, a reference only where it differs from the base, own files', async () => {
  const started = await savedAfterTwo({ adapter: join(MODEL, 'adapter') });
  assert.equal(readdirSync(started.folder).sort(), [
    'adapter',
    'checkpoint.json',
    'optimizer.safetensors',
    'reference',
  ]);
  await started.policy.close();
  const { policy, folder } = await savedAfterTwo({ lora: { rank: 2 } });
  await policy.saveCheckpoint(folder, { files: { 'trainer.json': '{"step":2}' } });
  assert.equal(readdirSync(folder).sort(), ['adapter', 'checkpoint.json', 'optimizer.safetensors', 'trainer.json']);
  const checkpoint = await readCheckpoint(folder);
  assert.equal(checkpoint.files, { 'trainer.json': '{"step":2}' });
  assert.is(checkpoint.record.optimizerSteps, 2);
  assert.equal(readdirSync(join(folder, '..')), ['step-2'], 'no temporary folder is left');
  await rejects(
    policy.saveCheckpoint(folder, { files: { '../x': '' } }),
    'INVALID_ARGUMENT',
    /"\.\.\/x" must be a plain file name/,
  );
  await policy.close();
});

test('a checkpoint before the first step, and one of a policy that trains nothing', async () => {
  const folder = join(temporaryFolder(), 'step-0');
  const policy = await Policy.load(MODEL);
  await policy.saveCheckpoint(folder);
  const resumed = await Policy.load(MODEL, { resume: folder });
  await policy.update(update);
  await resumed.update(update);
  assert.equal(changedTensors(await stateOf(policy), await stateOf(resumed)), []);
  await policy.close();
  await resumed.close();
  const none = await Policy.load(MODEL, { train: 'none' });
  await rejects(none.saveCheckpoint(folder), 'INVALID_ARGUMENT', /not trained \(train: 'none'\)/);
  await none.close();
});

test('options that contradict the checkpoint are errors that name the option; those that repeat it are fine', async () => {
  const made = { lora: { rank: 4, alpha: 8 }, seed: 3, reference: 'start', strict: false } as const;
  const { policy, folder } = await savedAfterTwo(made);
  await policy.close();
  const wrong: [LoadOptions, RegExp][] = [
    [{ lora: { rank: 8 } }, /lora\.rank is 8, but the checkpoint .* was made with 4; leave lora\.rank out/],
    [{ lora: { alpha: 16 } }, /lora\.alpha is 16/],
    [{ lora: { dropout: 0.1 } }, /lora\.dropout is 0\.1/],
    [{ lora: { rankStabilised: true } }, /lora\.rankStabilised is true/],
    [{ lora: { targetModules: ['q_proj'] } }, /lora\.targetModules is \["q_proj"\]/],
    [{ train: 'full' }, /train is "full", but/],
    [{ train: 'none' }, /train is "none", but/],
    [{ seed: 4 }, /seed is 4, but/],
    [{ reference: 'base' }, /reference is "base", but/],
    [{ dtype: 'bfloat16' }, /dtype is "bfloat16", but/],
    [{ strict: true }, /strict is true, but/],
    [{ support: 'all' }, /support is "all", but/],
    [{ adapter: join(MODEL, 'adapter') }, /adapter does not apply: it needs no resume/],
  ];
  for (const [options, message] of wrong) {
    await rejects(Policy.load(MODEL, { resume: folder, ...options }), 'INVALID_ARGUMENT', message);
  }
  const again = await Policy.load(MODEL, { resume: folder, ...made, dtype: 'auto', maxContext: 256 });
  assert.is(again.maxContext, 256);
  await again.close();
});

test('a cut, edited, missing or foreign file is one error that names it', async () => {
  const { policy, folder } = await savedAfterTwo({ adapter: join(MODEL, 'adapter') });
  await policy.close();
  const broken = (change: (copy: string) => void) => {
    const copy = join(temporaryFolder(), 'copy');
    cpSync(folder, copy, { recursive: true });
    change(copy);
    return Policy.load(MODEL, { resume: copy });
  };
  const edited = (path: string) => {
    const bytes = readFileSync(path);
    bytes[bytes.length - 3]! ^= 1;
    writeFileSync(path, bytes);
  };
  for (const path of [
    'optimizer.safetensors',
    'adapter/adapter_model.safetensors',
    'reference/adapter_model.safetensors',
    'adapter/adapter_config.json',
  ]) {
    const name = new RegExp(path.replaceAll('.', '\\.'));
    await rejects(
      broken((copy) => edited(join(copy, path))),
      'INVALID_CHECKPOINT',
      name,
    );
    await rejects(
      broken((copy) => writeFileSync(join(copy, path), readFileSync(join(copy, path)).subarray(0, -5))),
      'INVALID_CHECKPOINT',
      name,
    );
    await rejects(
      broken((copy) => rmSync(join(copy, path))),
      'INVALID_CHECKPOINT',
      name,
    );
  }
  const record = (change: Record<string, unknown>) => broken((copy) => editJson(join(copy, 'checkpoint.json'), change));
  await rejects(record({ seed: 1 }), 'INVALID_CHECKPOINT', /checkpoint\.json was edited/);
  await rejects(record({ formatVersion: 99 }), 'INVALID_CHECKPOINT', /checkpoint\.json has format version 99/);
  await rejects(record({ format: 'other' }), 'INVALID_CHECKPOINT', /checkpoint\.json is no checkpoint of grpo-native/);
  await rejects(
    broken((copy) => writeFileSync(join(copy, 'checkpoint.json'), '{"format"')),
    'INVALID_CHECKPOINT',
    /checkpoint\.json is cut or edited/,
  );
  await rejects(
    Policy.load(MODEL, { resume: '/nowhere' }),
    'INVALID_CHECKPOINT',
    /\/nowhere\/checkpoint\.json cannot be read/,
  );

  const other = copyModel(NAME);
  edited(join(other, 'model.safetensors'));
  await rejects(
    Policy.load(other, { resume: folder }),
    'INVALID_CHECKPOINT',
    /checkpoint\.json was made with other weights/,
  );
  await rejects(
    Policy.load(modelFolder('qwen2-tiny'), { resume: folder }),
    'INVALID_CHECKPOINT',
    /was made with other weights/,
  );
  const moved = copyModel(NAME);
  const elsewhere = await Policy.load(moved, { resume: folder });
  assert.is(elsewhere.weightsVersion, 2, 'the same weights in another folder are the same model');
  await elsewhere.close();
});

test('a save that fails leaves the older checkpoint whole and nothing beside it', async () => {
  const { policy, folder } = await savedAfterTwo({});
  const parent = join(folder, '..');
  const before = readFileSync(join(folder, 'checkpoint.json'), 'utf8');
  const saving = policy.saveCheckpoint(folder).catch((thrown: unknown) => thrown as { code: string });
  await policy.close();
  const error = await saving;
  if (error !== undefined) {
    assert.is(error.code, 'CLOSED');
    assert.is(readFileSync(join(folder, 'checkpoint.json'), 'utf8'), before);
  }
  await readCheckpoint(folder);
  assert.equal(readdirSync(parent), ['step-2']);
  const foreign = join(temporaryFolder(), 'notes');
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'mine.txt'), 'x');
  const other = await Policy.load(MODEL);
  await rejects(other.saveCheckpoint(foreign), 'INVALID_ARGUMENT', /holds other files \(mine\.txt\)/);
  assert.ok(existsSync(join(foreign, 'mine.txt')));
  await other.close();
});

test('an update during a save waits for it, so that a checkpoint never mixes two versions', async () => {
  const folder = join(temporaryFolder(), 'checkpoint');
  const policy = await Policy.load(MODEL, { train: 'full' });
  await policy.update(update);
  const before = await stateOf(policy);
  await Promise.all([policy.saveCheckpoint(folder), policy.update(update)]);
  const resumed = await Policy.load(MODEL, { resume: folder });
  assert.equal(changedTensors(await stateOf(resumed), before), []);
  assert.is(resumed.weightsVersion, 1);
  assert.is(policy.weightsVersion, 2);
  await policy.close();
  await resumed.close();
});

test.run();
