import type { EvaluationRecord } from '../../run/records.js';
import type { Curves, RunData } from '../types.js';
import { hasValues, smoothingFor } from './line-chart.js';
import type { Curve, LineChart } from './line-chart.js';
import { SERIES_COLORS } from './theme.js';
import type { ChartColor } from './theme.js';

type Source = Pick<RunData, 'metrics' | 'evaluations'>;
type CurveForm = Omit<Curve, 'name' | 'points'>;

/** A field of the metrics as a curve. */
export function metricCurve({ metrics }: { metrics: Curves }, field: string, name: string, form: CurveForm): Curve {
  const values = metrics.values[field] ?? [];
  return { ...form, name, points: metrics.steps.map((step, index) => [step, values[index] ?? null] as const) };
}

/** Evaluations in the mode that is evaluated to the end: others are measured once, and of another kind. */
export const followed = (evaluations: readonly EvaluationRecord[]): EvaluationRecord[] =>
  evaluations.filter((record) => record.mode === evaluations.at(-1)?.mode);

/** First and last searches by need; undefined where tasks don't tell which of them need the documentation. */
export function needEnds(evaluations: readonly EvaluationRecord[]): [EvaluationRecord, EvaluationRecord] | undefined {
  const known = followed(evaluations).filter((record) => typeof record.search_rate_needed === 'number');
  return known.length === 0 ? undefined : [known[0] as EvaluationRecord, known.at(-1) as EvaluationRecord];
}

/** A field of the evaluations in the mode that is evaluated to the end, as a curve of measurements. */
export function evaluationCurve(
  { evaluations }: { evaluations: readonly EvaluationRecord[] },
  field: keyof EvaluationRecord,
  name: string,
  form: CurveForm,
): Curve {
  const points = followed(evaluations).map(
    (record) => [record.step, (record[field] as number | null | undefined) ?? null] as const,
  );
  return { ...form, marked: true, name, points };
}

const PERCENT = { unit: 'percent', min: 0, max: 1 } as const;
const NUMBER = { unit: 'number' } as const;

/** The second panel: pass rate and mean reward of the training episodes. */
export const trainingChart = (data: Source): LineChart => {
  const passRate = metricCurve(data, 'pass_rate', 'pass rate', { color: 'green' });
  // Without verdicts the reward has the chart for itself.
  const right = hasValues(passRate);
  return {
    title: 'Training',
    smooth: smoothingFor(data.metrics.steps.length),
    curves: [passRate, metricCurve(data, 'reward_mean', 'mean reward', { color: 'purple', right })],
    left: right ? { ...PERCENT, name: 'pass rate' } : { ...NUMBER, name: 'mean reward' },
    right: { ...NUMBER, name: 'mean reward' },
  };
};

/** Pass rates of the evaluations on the way. */
export const evaluationChart = (data: Source): LineChart => {
  const passRate = evaluationCurve(data, 'pass_rate', 'held-out pass@1', { color: 'green' });
  const reward = evaluationCurve(data, 'reward_mean', 'held-out mean reward', { color: 'purple' });
  // A run of sft has losses alone.
  const loss = evaluationCurve(data, 'loss' as keyof EvaluationRecord, 'held-out loss, nats a token', { color: 'red' });
  if (hasValues(passRate)) return { title: 'Evaluations', curves: [passRate], left: PERCENT };
  return { title: 'Evaluations', curves: hasValues(reward) ? [reward] : [loss], left: NUMBER };
};

const neededCurves = (data: Source): Curve[] => [
  evaluationCurve(data, 'search_rate_needed', 'search when needed', { color: 'blue' }),
  evaluationCurve(data, 'search_rate_unneeded', 'search when not needed', { color: 'orange', dashed: true }),
];

/** Searches of held-out episodes whose task needs the documentation, and of the others; behind them those of training. */
export const whenToSearchChart = (data: Source): LineChart => ({
  title: 'Learns when to search',
  curves: [
    metricCurve(data, 'search_rate_needed', 'when needed, training', { color: 'blue', faint: true }),
    metricCurve(data, 'search_rate_unneeded', 'when not needed, training', { color: 'orange', faint: true }),
    ...neededCurves(data),
  ],
  left: { ...PERCENT, name: 'episodes that search' },
});

const TOOLS: [string, string, ChartColor][] = [
  ['tool_search_rate', 'search', 'blue'],
  ['tool_execute_rate', 'execute', 'orange'],
  ['tool_submit_rate', 'submit', 'green'],
];

/** Shares of training episodes that used each tool. */
export const toolChart = (data: Source): LineChart => {
  const known = TOOLS.map(([field]) => field);
  const others = Object.keys(data.metrics.values).filter(
    (field) => /^tool_.+_rate$/.test(field) && !known.includes(field),
  );
  return {
    title: 'Tool selection',
    smooth: smoothingFor(data.metrics.steps.length),
    curves: [
      ...TOOLS.map(([field, name, color]) => metricCurve(data, field, name, { color })),
      ...others.map((field, index) =>
        metricCurve(data, field, field.slice(5, -5), { color: SERIES_COLORS[3 + (index % 5)] as ChartColor }),
      ),
    ],
    left: { ...PERCENT, name: 'episodes that use it' },
  };
};

/** The third panel of the picture: search and submit, searches by need where tasks tell, or an environment's own tools. */
export const toolPanel = (data: Source): LineChart => {
  const chart = toolChart(data);
  if (!needEnds(data.evaluations)) {
    const two = chart.curves.filter(({ name }) => name === 'search' || name === 'submit');
    // An environment with tools of its own shows those.
    return two.some(hasValues) ? { ...chart, curves: two } : chart;
  }
  const submit = chart.curves.filter(({ name }) => name === 'submit');
  const search = chart.curves
    .filter(({ name }) => name === 'search')
    .map((curve): Curve => ({ ...curve, color: 'grey' }));
  return { ...chart, curves: [...neededCurves(data), ...search, ...submit] };
};

const PART = 'part: ';

const partChart = (data: Source): LineChart => ({
  title: 'Reward parts',
  smooth: smoothingFor(data.metrics.steps.length),
  curves: Object.keys(data.metrics.values)
    .filter((field) => field.startsWith(PART))
    .map((field, index) =>
      metricCurve(data, field, field.slice(PART.length), {
        color: SERIES_COLORS[index % SERIES_COLORS.length] as ChartColor,
      }),
    ),
  left: NUMBER,
});

type ChartPart = { title: string; note: string; charts: LineChart[] };

const one = (data: Source, title: string, field: string, color: ChartColor, percent = false): LineChart => ({
  title,
  smooth: smoothingFor(data.metrics.steps.length),
  curves: [metricCurve(data, field, title, { color })],
  left: percent ? { ...PERCENT, max: undefined } : NUMBER,
});

function perEpisodeTokens(data: Source): LineChart {
  const { steps, values } = data.metrics;
  const points = steps.map((step, index) => {
    const tokens = values['tokens_sampled']?.[index];
    const episodes = values['episodes']?.[index];
    return [step, typeof tokens === 'number' && episodes ? tokens / episodes : null] as const;
  });
  const smooth = smoothingFor(steps.length);
  return {
    title: 'Tokens an episode',
    smooth,
    curves: [{ name: 'sampled tokens an episode', color: 'teal', points }],
    left: NUMBER,
  };
}

const timing = (data: Source): LineChart => ({
  title: 'Seconds a step',
  smooth: smoothingFor(data.metrics.steps.length),
  curves: [
    metricCurve(data, 'rollout_seconds', 'rollout', { color: 'blue' }),
    metricCurve(data, 'update_seconds', 'update', { color: 'orange' }),
    metricCurve(data, 'seconds', 'whole step', { color: 'grey', dashed: true }),
  ],
  left: { ...NUMBER, min: 0 },
});

/** Charts below the panels, by subject. */
export const detailCharts = (data: Source): ChartPart[] => [
  {
    title: 'Rewards',
    note: 'Mean of every part of the reward, and the spread of rewards in a step.',
    charts: [
      partChart(data),
      one(data, 'Reward deviation', 'reward_std', 'purple'),
      one(data, 'Groups with equal rewards', 'groups_constant', 'grey'),
    ],
  },
  {
    title: 'Update',
    note: 'How far the policy moves. The sampler/trainer gap should stay near rounding.',
    charts: [
      one(data, 'KL to the reference, nats', 'kl', 'red'),
      one(data, 'Entropy, nats a token', 'entropy', 'blue'),
      one(data, 'Sampler/trainer gap, nats', 'sampler_trainer_gap', 'teal'),
      one(data, 'Gradient norm', 'grad_norm', 'orange'),
      one(data, 'Clipped tokens', 'clip_fraction', 'pink', true),
      one(data, 'Loss', 'loss', 'grey'),
    ],
  },
  {
    title: 'Lengths',
    note: 'Turns and tokens of an episode, and episodes with a turn that was cut.',
    charts: [
      one(data, 'Turns an episode', 'turns_mean', 'blue'),
      perEpisodeTokens(data),
      one(data, 'Cut episodes', 'truncated_rate', 'red', true),
    ],
  },
  { title: 'Time', note: 'Where the seconds of a step go.', charts: [timing(data)] },
];

/** Whether a chart has anything to show. */
export const isDrawn = (chart: LineChart): boolean => chart.curves.some(hasValues);
