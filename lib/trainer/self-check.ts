import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trainedTokens } from '../algorithms/index.js';
import { readSafetensors } from '../model/safetensors.js';
import type { SessionRow, UpdateRow } from '../policy/types.js';
import type { TrainablePolicy } from './state.js';

/** One thing that has to hold before training is worth its time. */
export interface SelfCheck {
  name: string;
  ok: boolean;
  /** What was measured. */
  detail: string;
}

export interface SelfCheckRequest {
  policy: TrainablePolicy;
  /** Opens a second policy from a checkpoint. */
  reload: (checkpoint: string) => Promise<TrainablePolicy>;
  /** Sampled by the policy as it is now, at temperature 1. */
  rows: readonly SessionRow[];
  train: 'lora' | 'full';
  /** bfloat16 rounds: sampler and trainer then agree less closely. */
  dtype: 'float32' | 'bfloat16';
}

const IDLE_STEPS = 20;
const LEARNING_RATE = 1e-4;
/** Mean and max difference of sampler and trainer that float32 keeps; bfloat16's rounding is about 2^-8 of a logit. */
const GAP = { float32: { mean: 1e-5, max: 1e-4 }, bfloat16: { mean: 0.05, max: 2 } };

const check = (name: string, ok: boolean, detail: string): SelfCheck => ({ name, ok, detail });
const short = (value: number | null) => (value === null ? 'none' : value.toExponential(2));

function largestDifference(left: readonly Float32Array[], right: readonly Float32Array[]): number {
  return Math.max(
    ...left.flatMap((row, b) =>
      Array.from(row, (value, t) => (value === right[b]?.[t] ? 0 : Math.abs(value - (right[b]?.[t] ?? NaN)))),
    ),
  );
}

/** Bytes of every matrix of a saved adapter, by name. */
async function adapterMatrices(policy: TrainablePolicy, folder: string): Promise<Map<string, string>> {
  await policy.saveAdapter(folder);
  const path = join(folder, 'adapter_model.safetensors');
  const { tensors } = await readSafetensors(path);
  const bytes = await readFile(path);
  const read = ({ offset, byteLength }: { offset: number; byteLength: number }) =>
    bytes.toString('latin1', offset, offset + byteLength);
  return new Map([...tensors].map(([name, tensor]) => [name, read(tensor)]));
}

class SelfChecks {
  readonly found: SelfCheck[] = [];
  readonly #ids: Int32Array[];
  readonly #updateRows: UpdateRow[];

  constructor(
    readonly request: SelfCheckRequest,
    readonly folder: string,
  ) {
    const { rows } = request;
    this.#ids = rows.map(({ ids }) => ids);
    this.#updateRows = rows.map(({ ids, mask }, b) => ({ ids, mask, advantage: b % 2 === 0 ? 1 : -0.5 }));
  }

  #logprobs(weights: 'policy' | 'base' = 'policy', policy = this.request.policy) {
    return policy.logprobs(this.#ids, { weights });
  }

  #update(learningRate: number, policy = this.request.policy, rows = this.#updateRows) {
    return policy.update({ rows, loss: { klCoefficient: 0.01 }, optimizer: { learningRate } });
  }

  async sampler(): Promise<void> {
    const trainer = await this.#logprobs();
    const gaps = this.request.rows.flatMap(({ samplerLogprobs }, b) =>
      Array.from(samplerLogprobs, (value, t) => Math.abs(value - (trainer[b]?.[t] as number))).filter(
        (gap) => !Number.isNaN(gap),
      ),
    );
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const max = Math.max(...gaps);
    const limit = GAP[this.request.dtype];
    const detail = `mean ${short(mean)}, max ${short(max)} nats over ${gaps.length} tokens`;
    this.found.push(check('sampler and trainer agree', mean <= limit.mean && max <= limit.max, detail));
  }

  async firstStep(): Promise<void> {
    const before = await this.#logprobs();
    const old = this.#updateRows.map((row, b) => ({ ...row, oldLogprobs: before[b] }));
    const stats = await this.#update(0, this.request.policy, old);
    const limit = this.request.dtype === 'float32' ? 1e-5 : 1e-2;
    this.found.push(check('KL at step 0 is 0', Math.abs(stats.kl ?? NaN) <= limit, `${short(stats.kl)} nats a token`));
    const distance = Math.abs(stats.ratioMax - 1);
    this.found.push(check('the ratio at step 0 is 1', distance <= 100 * limit, `1 + ${short(distance)} at most`));
    for (let step = 1; step < IDLE_STEPS; step++) await this.#update(0);
    const moved = largestDifference(before, await this.#logprobs());
    const detail = `${short(moved)} nats after ${IDLE_STEPS} steps`;
    this.found.push(check('learning rate 0 changes nothing', moved === 0, detail));
  }

  /** B gets its gradient in the first step; A, whose gradient goes through B, in the second. */
  async gradients(): Promise<void> {
    const { policy, train } = this.request;
    const before = await this.#logprobs();
    const start = train === 'lora' ? await adapterMatrices(policy, join(this.folder, 'start')) : undefined;
    for (let step = 0; step < 2; step++) await this.#update(LEARNING_RATE);
    const moved = largestDifference(before, await this.#logprobs());
    this.found.push(check('an update changes the policy', moved > 0, `${short(moved)} nats after two steps`));
    if (start === undefined) return;
    const end = await adapterMatrices(policy, join(this.folder, 'end'));
    const still = [...start].filter(([name, bytes]) => end.get(name) === bytes).map(([name]) => name);
    const detail = still.length === 0 ? `${start.size} matrices` : `none in ${still.slice(0, 3).join(', ')}`;
    this.found.push(check('every adapter matrix gets a gradient', still.length === 0, detail));
    const distance = largestDifference(await this.#logprobs('base'), await this.#logprobs());
    this.found.push(check('the adapter is not a no-op', distance > 0, `${short(distance)} nats from the base`));
  }

  async resume(): Promise<void> {
    const checkpoint = join(this.folder, 'checkpoint');
    await this.request.policy.saveCheckpoint(checkpoint);
    const twin = await this.request.reload(checkpoint);
    try {
      const apart = largestDifference(await this.#logprobs(), await this.#logprobs('policy', twin));
      await this.#update(LEARNING_RATE);
      await this.#update(LEARNING_RATE, twin);
      const later = largestDifference(await this.#logprobs(), await this.#logprobs('policy', twin));
      const detail = `${short(apart)} nats at once, ${short(later)} after an update`;
      this.found.push(check('a checkpoint goes on as it was', apart === 0 && later <= 1e-5, detail));
    } finally {
      await twin.close();
    }
  }
}

/**
 * Measures whether a policy can be trained at all. It moves the weights: use a policy that is not needed afterwards.
 *
 * @throws {GrpoError} what the policy throws
 */
export async function selfCheck(request: SelfCheckRequest): Promise<SelfCheck[]> {
  const tokens = request.rows.reduce((sum, { mask }) => sum + trainedTokens(mask), 0);
  if (tokens === 0) return [check('there are sampled tokens', false, 'the rows hold none')];
  const folder = await mkdtemp(join(tmpdir(), 'grpo-check-'));
  try {
    const checks = new SelfChecks(request, folder);
    await checks.sampler();
    await checks.firstStep();
    await checks.gradients();
    await checks.resume();
    return checks.found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
