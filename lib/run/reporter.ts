import type { EvaluationRecord, StepMetrics } from './records.js';

/** Where a run tells what it does. */
export interface Reporter {
  message: (text: string) => void;
  warning: (text: string) => void;
  step: (metrics: StepMetrics, steps: number) => void;
  evaluation: (record: EvaluationRecord) => void;
  /** Text that closes a run, such as a table. */
  closing: (text: string) => void;
  /** Episodes done so far of the present work: overwritten in place on a terminal, elsewhere a line now and then. */
  progress: (label: string, done: number, total: number) => void;
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
  step: silent,
  evaluation: silent,
  closing: silent,
  progress: silent,
};

/** One JSON object a line. */
export function jsonReporter(write: (text: string) => void): Reporter {
  const line = (object: object) => write(`${JSON.stringify(object)}\n`);
  return {
    message: (text) => line({ type: 'message', text }),
    warning: (text) => line({ type: 'warning', text }),
    step: (metrics) => line({ type: 'step', ...metrics }),
    evaluation: (record) => line({ type: 'evaluation', ...record }),
    closing: silent,
    progress: silent,
  };
}

/** Milliseconds between two lines about the same work where nothing can be overwritten. */
const PROGRESS_MS = 30_000;

/** One calm line for everything that happened; a live count of episodes on a terminal. */
export function textReporter(output: NodeJS.WriteStream = process.stdout): Reporter {
  const clear = output.isTTY ? '\r\u001b[2K' : '';
  const line = (text: string) => void output.write(`${clear}${text}\n`);
  let told = { label: '', at: 0 };
  return {
    message: line,
    warning: (text) => line(`warning: ${text}`),
    step: (metrics, steps) => line(stepLine(metrics, steps)),
    evaluation: (record) => line(evaluationLine(record)),
    closing: (text) => line(`\n${text}`),
    progress: (label, done, total) => {
      const text = `${label}: ${done} of ${total} episodes`;
      if (output.isTTY) return void output.write(`${clear}${text}`);
      const now = performance.now();
      if (label === told.label && done < total && now - told.at < PROGRESS_MS) return;
      told = { label, at: now };
      line(text);
    },
  };
}

/** The reporter that a configuration asks for. */
export function reporterFor(options: { quiet: boolean; json: boolean }): Reporter {
  if (options.quiet) return quietReporter;
  return options.json ? jsonReporter((text) => void process.stdout.write(text)) : textReporter();
}
