import type { ComparedRun } from '../types.js';
import { hasValues, smoothingFor } from './line-chart.js';
import type { Curve, LineChart } from './line-chart.js';
import { evaluationCurve, metricCurve } from './run-charts.js';
import { SERIES_COLORS } from './theme.js';
import type { ChartColor } from './theme.js';

const METRICS: [string, string, boolean][] = [
  ['pass_rate', 'Pass rate', true],
  ['reward_mean', 'Mean reward', false],
  ['tool_search_rate', 'Search rate', true],
  ['tool_execute_rate', 'Execute rate', true],
  ['tool_submit_rate', 'Submit rate', true],
  ['kl', 'KL to the reference, nats', false],
  ['entropy', 'Entropy, nats a token', false],
  ['turns_mean', 'Turns an episode', false],
  ['truncated_rate', 'Cut episodes', true],
  ['grad_norm', 'Gradient norm', false],
  ['sampler_trainer_gap', 'Sampler/trainer gap, nats', false],
  ['seconds', 'Seconds a step', false],
];

const EVALUATIONS = [
  ['pass_rate', 'Held-out pass@1'],
  ['search_rate_needed', 'Searches when needed'],
  ['search_rate_unneeded', 'Searches when not needed'],
] as const;

/** One chart a number, one curve a run; numbers that no run has are left out. */
export function comparisonCharts(runs: readonly ComparedRun[]): LineChart[] {
  const form = (index: number) => ({
    color: SERIES_COLORS[index % SERIES_COLORS.length] as ChartColor,
    dashed: index >= SERIES_COLORS.length,
  });
  const entries = Math.max(0, ...runs.map(({ data }) => data.metrics.steps.length));
  const percent = { unit: 'percent', min: 0, max: 1 } as const;
  const chart = (title: string, isShare: boolean, curves: Curve[], smooth: number): LineChart => ({
    title,
    smooth,
    curves,
    left: isShare ? percent : { unit: 'number' },
  });
  return [
    ...EVALUATIONS.map(([field, title]) =>
      chart(
        title,
        true,
        runs.map(({ name, data }, i) => evaluationCurve(data, field, name, form(i))),
        1,
      ),
    ),
    ...METRICS.map(([field, title, isShare]) =>
      chart(
        title,
        isShare,
        runs.map(({ name, data }, i) => metricCurve(data, field, name, form(i))),
        smoothingFor(entries),
      ),
    ),
  ].filter(({ curves }) => curves.some(hasValues));
}
