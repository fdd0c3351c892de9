import type { EvaluationRecord, StepMetrics } from './records.js';
import type { WorkProgress } from '../terminal/progress.js';

/** How a run ended. */
export interface RunEnd {
  /** The run's folder. */
  run: string;
  /** Steps that are done. */
  steps: number;
  /** Folder of the trained weights. */
  adapter: string;
  /** The run was stopped before its last step. */
  interrupted: boolean;
}

/** Where a run tells what it does. */
export interface Reporter {
  message: (text: string) => void;
  warning: (text: string) => void;
  /** The run's folder is there; `step` is the one it goes on after, 0 for a new run. */
  run: (folder: string, step: number) => void;
  /** @param text the record as one line for people */
  step: (record: { step: number }, text: string) => void;
  /** @param text the record as one line for people */
  evaluation: (record: { step: number }, text: string) => void;
  /** Text that closes a run, such as a table. */
  closing: (text: string) => void;
  /** The run is over and saved. */
  ended: (end: RunEnd) => void;
  /** How far the present work is: overwritten in place on a terminal, elsewhere a line when nothing else was said for long. */
  progress: (work: WorkProgress) => void;
  /** Nothing is under way any more, whether or not it went well. */
  idle: () => void;
}

const silent = () => undefined;

const percent = (value: number | null) => (value === null ? '-' : `${(100 * value).toFixed(0)}%`);
const fixed = (value: number | null, digits: number) => (value === null ? '-' : value.toFixed(digits));
const short = (value: number | null) => (value === null ? '-' : value.toPrecision(3));

/** The one line that a step prints. */
export function stepLine(metrics: StepMetrics, steps: number): string {
  const rate = metrics.rollout_seconds > 0 ? metrics.tokens_sampled / metrics.rollout_seconds : 0;
  const tools = (['search', 'execute', 'submit'] as const)
    .map((name) => [name, metrics[`tool_${name}_rate`]] as const)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${percent(value)}`);
  return [
    `step ${metrics.step}/${steps}`,
    `reward ${fixed(metrics.reward_mean, 3)}`,
    `pass ${percent(metrics.pass_rate)}`,
    ...tools,
    `turns ${fixed(metrics.turns_mean, 1)}`,
    metrics.skipped === null ? `loss ${short(metrics.loss)}` : `no update: ${metrics.skipped}`,
    ...(metrics.kl === null ? [] : [`kl ${short(metrics.kl)}`]),
    ...(metrics.grad_norm === null ? [] : [`grad ${short(metrics.grad_norm)}`]),
    ...(metrics.episodes_invalid > 0 ? [`invalid ${metrics.episodes_invalid}`] : []),
    `${metrics.seconds.toFixed(1)} s`,
    `${rate.toFixed(0)} tok/s`,
  ].join('  ');
}

/** The one line that an evaluation prints. */
export function evaluationLine(record: EvaluationRecord): string {
  const [low, high] = record.ci95;
  const invalid = record.episodes_invalid > 0 ? `  invalid ${record.episodes_invalid}` : '';
  // An environment without a verdict has rewards only.
  const result =
    record.pass_rate === null
      ? `reward ${fixed(record.reward_mean, 3)}`
      : `pass ${percent(record.pass_rate)}  [${percent(low)}, ${percent(high)}]`;
  return (
    `evaluation  step ${record.step}  ${record.mode}  ${result}` +
    `  n ${record.n}${invalid}  ${record.seconds.toFixed(1)} s`
  );
}

/** Nothing at all; errors still reach the caller. */
export const quietReporter: Reporter = {
  message: silent,
  warning: silent,
  run: silent,
  step: silent,
  evaluation: silent,
  closing: silent,
  ended: silent,
  progress: silent,
  idle: silent,
};

/** One JSON object a line. */
export function jsonReporter(write: (text: string) => void): Reporter {
  const line = (object: object) => write(`${JSON.stringify(object)}\n`);
  return {
    ...quietReporter,
    message: (text) => line({ type: 'message', text }),
    warning: (text) => line({ type: 'warning', text }),
    run: (folder, step) => line({ type: 'run', run: folder, step }),
    step: (metrics) => line({ type: 'step', ...metrics }),
    evaluation: (record) => line({ type: 'evaluation', ...record }),
    ended: (end) => line({ type: 'end', ...end }),
  };
}
