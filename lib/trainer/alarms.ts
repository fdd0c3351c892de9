import type { TrainConfig } from '../config/index.js';
import type { StepMetrics } from '../run/index.js';

type Limits = TrainConfig['alarms'];

interface Alarm {
  name: string;
  fires: (metrics: StepMetrics, limits: Limits) => boolean;
  /** What is wrong, and what to try. */
  text: (metrics: StepMetrics, limits: Limits) => string;
}

const percent = (share: number) => `${Math.round(100 * share)}%`;
const short = (value: number | null) => (value ?? NaN).toPrecision(3);
const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);

const ALARMS: Alarm[] = [
  {
    name: 'constant',
    fires: (m, limits) => share(m.groups_constant, m.groups) > limits.constantMax,
    text: (m) =>
      `${m.groups_constant} of ${m.groups} groups have equal rewards, so there is little to learn from; try a larger ` +
      'groupSize, other tasks, or a higher temperature',
  },
  {
    name: 'length',
    fires: (m, limits) => (m.truncated_rate ?? 0) > limits.truncatedMax,
    text: (m) =>
      `${percent(m.truncated_rate ?? 0)} of the episodes were cut by maxNewTokens or the context; raise maxNewTokens or ` +
      'ask for shorter answers',
  },
  {
    name: 'entropy',
    fires: (m, limits) => m.entropy !== null && m.entropy < limits.entropyMin,
    text: (m, limits) =>
      `the entropy is ${short(m.entropy)} nats a token (limit ${limits.entropyMin}): the policy hardly varies any more; ` +
      'try a lower learning rate, or loss.entropyCoefficient',
  },
  {
    name: 'kl',
    fires: (m, limits) => m.kl !== null && m.kl > limits.klMax,
    text: (m, limits) =>
      `the KL to the reference is ${short(m.kl)} nats a token (limit ${limits.klMax}); try a lower learning rate or a ` +
      'higher loss.klCoefficient',
  },
  {
    name: 'clip',
    fires: (m, limits) => m.clip_fraction !== null && m.clip_fraction > limits.clipMax,
    text: (m, limits) =>
      `${percent(m.clip_fraction ?? 0)} of the tokens are clipped (limit ${percent(limits.clipMax)}); try a lower learning rate`,
  },
  {
    name: 'invalid',
    fires: (m, limits) => share(m.episodes_invalid, m.episodes) > limits.invalidMax,
    text: (m) => {
      const reasons = Object.entries(m.invalid_reasons).map(([reason, times]) => `${times} x ${reason}`);
      return `${m.episodes_invalid} of ${m.episodes} episodes are invalid: ${reasons.slice(0, 3).join('; ')}`;
    },
  },
  {
    name: 'gap',
    fires: (m, limits) => (m.sampler_trainer_gap ?? 0) > limits.gapMax,
    text: (m, limits) =>
      `sampler and trainer differ by ${short(m.sampler_trainer_gap)} nats a token (limit ${limits.gapMax}); use dtype ` +
      'float32, or loss.correction',
  },
  {
    name: 'skipped',
    fires: (m) => m.skipped !== null && m.rows_trained > 0,
    text: (m) => `the optimizer did not step: ${m.skipped}`,
  },
  {
    name: 'memory',
    fires: (m) => m.memory_note !== null,
    text: (m) => String(m.memory_note),
  },
];

/** Says what looks wrong in a step. */
export class StepAlarms {
  readonly #limits: Limits;
  readonly #times = new Map<string, number>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Names of the alarms that sound, for the log. */
  names(metrics: StepMetrics): string[] {
    return ALARMS.filter((alarm) => alarm.fires(metrics, this.#limits)).map((alarm) => alarm.name);
  }

  /** The lines to show: each kind at its first step and then every tenth time. */
  texts(metrics: StepMetrics): string[] {
    return ALARMS.filter((alarm) => metrics.alarms.includes(alarm.name)).flatMap((alarm) => {
      const times = this.#times.get(alarm.name) ?? 0;
      this.#times.set(alarm.name, times + 1);
      return times % 10 === 0 ? [`step ${metrics.step}: ${alarm.text(metrics, this.#limits)}`] : [];
    });
  }
}
