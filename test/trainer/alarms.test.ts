import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveTrainConfig } from '../../lib/config/index.js';
import type { StepMetrics } from '../../lib/run/index.js';
import { StepAlarms } from '../../lib/trainer/alarms.js';

const limits = resolveTrainConfig({ model: 'm' }).alarms;

/** A step about which there is nothing to say. */
const calm = {
  step: 1,
  groups: 4,
  groups_constant: 1,
  episodes: 32,
  episodes_invalid: 0,
  invalid_reasons: {},
  truncated_rate: 0.1,
  entropy: 1,
  kl: null,
  clip_fraction: 0,
  sampler_trainer_gap: 1e-6,
  skipped: null,
  rows_trained: 24,
  memory_note: null,
  alarms: [],
} as unknown as StepMetrics;

const CASES: [string, Partial<StepMetrics>, RegExp][] = [
  ['constant', { groups_constant: 4 }, /4 of 4 groups have equal rewards/],
  ['length', { truncated_rate: 0.6 }, /60% of the episodes were cut/],
  ['entropy', { entropy: 0.001 }, /entropy is 0\.00100 nats a token \(limit 0\.01\)/],
  ['kl', { kl: 2 }, /KL to the reference is 2\.00 nats/],
  ['clip', { clip_fraction: 0.5 }, /50% of the tokens are clipped \(limit 30%\)/],
  ['invalid', { episodes_invalid: 8, invalid_reasons: { 'judge is down': 8 } }, /8 of 32 .* 8 x judge is down/],
  ['gap', { sampler_trainer_gap: 0.2 }, /differ by 0\.200 nats/],
  ['skipped', { skipped: 'the gradient is not finite' }, /did not step: the gradient is not finite/],
  ['memory', { memory_note: 'memory allows micro-batches of 8 tokens' }, /memory allows micro-batches of 8 tokens/],
];

test('a calm step sounds no alarm, and every figure out of bounds its own', () => {
  const alarms = new StepAlarms(limits);
  assert.equal(alarms.names(calm), []);
  for (const [name, change, text] of CASES) {
    const metrics = { ...calm, ...change } as StepMetrics;
    metrics.alarms = alarms.names(metrics);
    assert.equal(metrics.alarms, [name]);
    const lines = alarms.texts(metrics);
    assert.is(lines.length, 1);
    assert.match(lines[0]!, text);
  }
});

test('thresholds come from the configuration', () => {
  const strict = resolveTrainConfig({ model: 'm', alarms: { entropyMin: 2, truncatedMax: 0.05 } }).alarms;
  assert.equal(new StepAlarms(strict).names(calm), ['length', 'entropy']);
});

test('an alarm that goes on is told at its first step and every tenth', () => {
  const alarms = new StepAlarms(limits);
  const told = Array.from({ length: 21 }, (_, index) => {
    const metrics = { ...calm, step: index + 1, kl: 3, alarms: ['kl'] } as StepMetrics;
    return alarms.texts(metrics).length;
  });
  assert.equal(
    told.flatMap((count, index) => (count > 0 ? [index + 1] : [])),
    [1, 11, 21],
  );
});

test.run();
