import type { StepMetrics } from '../run/index.js';

/** Gap above which sampler and trainer no longer describe the same policy, nats a token. */
const GAP_LIMIT = 0.05;

interface Alarm {
  name: string;
  fires: (metrics: StepMetrics) => boolean;
  text: (metrics: StepMetrics) => string;
}

const ALARMS: Alarm[] = [
  {
    name: 'constant',
    fires: (metrics) => metrics.groups > 0 && metrics.groups_constant === metrics.groups,
    text: (metrics) =>
      `step ${metrics.step}: the rewards of every group are all equal, so there is nothing to learn from it; ` +
      'try a larger groupSize, other tasks, or a higher temperature',
  },
  {
    name: 'truncated',
    fires: (metrics) => (metrics.truncated_rate ?? 0) > 0.5,
    text: (metrics) =>
      `step ${metrics.step}: ${Math.round(100 * (metrics.truncated_rate ?? 0))}% of the episodes were cut by ` +
      'maxNewTokens or the context; raise maxNewTokens or ask for shorter answers',
  },
  {
    name: 'gap',
    fires: (metrics) => (metrics.sampler_trainer_gap ?? 0) > GAP_LIMIT,
    text: (metrics) =>
      `step ${metrics.step}: sampler and trainer differ by ${metrics.sampler_trainer_gap?.toPrecision(3)} nats a token ` +
      `(limit ${GAP_LIMIT}); use dtype float32, or loss.correction`,
  },
  {
    name: 'skipped',
    fires: (metrics) => metrics.skipped !== null && metrics.tokens_trained > 0,
    text: (metrics) => `step ${metrics.step}: the optimizer did not step: ${metrics.skipped}`,
  },
];

/** Says what looks wrong in a step; each kind at its first step and then every tenth time. */
export class StepWarnings {
  readonly #times = new Map<string, number>();

  check(metrics: StepMetrics): string[] {
    return ALARMS.filter((alarm) => alarm.fires(metrics)).flatMap((alarm) => {
      const times = this.#times.get(alarm.name) ?? 0;
      this.#times.set(alarm.name, times + 1);
      return times % 10 === 0 ? [alarm.text(metrics)] : [];
    });
  }
}
