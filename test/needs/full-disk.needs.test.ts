import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError, Policy, train } from '../../lib/index.js';
import { findCheckpoint, quietReporter } from '../../lib/run/index.js';
import { TINY_LORA, vowelsEnvironment, writeTinyModel } from '../e2e/tiny-model.js';
import { skipAloud } from '../harness.js';

/** Set in the process that runs in a mount namespace of its own: a folder on a disk of 4 MiB. */
const disk = process.env['GRPO_TEST_SMALL_DISK'];
const DISK_BYTES = 4 * 2 ** 20;

function runOnSmallDisk(): never {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-full-disk-'));
  const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const mount = ['sh', '-c', `mount -t tmpfs -o size=${DISK_BYTES} tmpfs "$0" && exec "$@"`, folder];
  try {
    const tried = spawnSync('unshare', [...namespace, ...mount, 'true'], { encoding: 'utf8' });
    if (tried.status !== 0) skipAloud(`no small disk can be mounted: ${tried.error?.message ?? tried.stderr.trim()}`);
    const program = [process.execPath, '--import', 'tsx', fileURLToPath(import.meta.url)];
    const env = { ...process.env, GRPO_TEST_SMALL_DISK: folder };
    const { status } = spawnSync('unshare', [...namespace, ...mount, ...program], { stdio: 'inherit', env });
    process.exit(status ?? 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (disk === undefined) runOnSmallDisk();

const scratch = mkdtempSync(join(tmpdir(), 'grpo-full-disk-model-'));
const model = join(scratch, 'model');
const filler = join(disk, 'filler');
test.before(async () => void (await writeTinyModel(model)));
test.after.each(() => readdirSync(disk).forEach((name) => rmSync(join(disk, name), { recursive: true })));
test.after(() => rmSync(scratch, { recursive: true }));

/** Takes all of the disk but so many bytes, rounded to its blocks. */
function fill(leftBytes: number): void {
  const { bavail, bsize } = statfsSync(disk!);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
}

const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'base64')]),
  );

const ids = Array.from({ length: 20 }, (_, t) => (t * 37 + 11) % 250);
const rows = [{ ids, mask: ids.map(() => 1), advantage: 1 }];

test('a full disk refuses a save, says so, and leaves the earlier one as it was', async () => {
  const policy = await Policy.load(model, { lora: TINY_LORA });
  const saved = join(disk, 'checkpoint');
  await policy.update({ rows });
  await policy.saveCheckpoint(saved);
  const before = contents(saved);
  await policy.update({ rows });
  const saves = {
    checkpoint: () => policy.saveCheckpoint(saved),
    adapter: () => policy.saveAdapter(join(disk, 'adapter')),
    merged: () => policy.exportMerged(join(disk, 'merged')),
  };
  for (const leftBytes of [0, 4096, 12_288]) {
    fill(leftBytes);
    for (const [name, save] of Object.entries(saves)) {
      const error = await save().then(
        () => undefined,
        (reason: unknown) => reason as GrpoError,
      );
      assert.instance(error, GrpoError, `${name} with ${leftBytes} bytes left`);
      assert.is(error?.code, 'IO_FAILED');
      assert.match(error?.message ?? '', /ENOSPC.*free space/);
      assert.match(error?.message ?? '', disk);
      assert.equal(contents(saved), before);
      assert.equal(readdirSync(disk).sort(), ['checkpoint', 'filler'], 'nothing half done is left');
    }
    rmSync(filler);
  }
  await policy.saveCheckpoint(saved);
  const trained = await policy.logprobs([ids]);
  await policy.close();
  const resumed = await Policy.load(model, { resume: saved });
  assert.equal(await resumed.logprobs([ids]), trained, 'with space again the same policy saves');
  await resumed.close();
});

test('a run whose disk fills up ends with the error; with space again it goes on from its newest checkpoint', async () => {
  const output = join(disk, 'run');
  const environment = vowelsEnvironment();
  const sizes = { promptsPerStep: 1, groupSize: 2, maxNewTokens: 4, evalEvery: 0, keepLast: 2 };
  const settings = { model, environment, output, lora: TINY_LORA, steps: 40, ...sizes };
  const lines = (name: string) => readFileSync(join(output, name), 'utf8').split('\n').filter(Boolean);
  let resume = false;
  let last = 0;
  for (const leftBytes of [0, 4096, 40_960, 81_920]) {
    let filledAt = 0;
    const step = (record: { step: number }) => {
      last = record.step;
      if (filledAt > 0 || record.step < 3) return;
      filledAt = record.step;
      fill(leftBytes);
    };
    const reporter = { ...quietReporter, step };
    const error = await train(resume ? { resume: output, environment } : settings, { reporter }).then(
      () => undefined,
      (reason: unknown) => reason as GrpoError,
    );
    resume = true;
    assert.ok(error instanceof GrpoError && error.code === 'IO_FAILED', String(error));
    assert.match(error.message, /ENOSPC/);
    rmSync(filler);
    const found = await findCheckpoint<unknown>(output, (message) => assert.unreachable(message));
    assert.ok(found && found.record.step >= last - 1, `step ${last} was done, saved is ${found?.record.step}`);
  }
  await train({ resume: output, environment }, { reporter: quietReporter });
  const steps = lines('metrics.jsonl').map((line) => (JSON.parse(line) as { step: number }).step);
  assert.equal(
    steps,
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
});

test.run();
