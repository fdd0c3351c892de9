/** Course of the learning rate over a run. */
export interface ScheduleOptions {
  schedule: 'constant' | 'cosine' | 'linear';
  /** Steps of the linear rise. */
  warmupSteps: number;
  /** Steps of the whole run. */
  steps: number;
}

/**
 * Factor on the peak learning rate in one step.
 *
 * step: 1-based. Warm-up: step / warmupSteps. Then constant, half a cosine, or a line; the decaying ones would reach 0 in
 * the step after the last, so every step learns.
 */
export function learningRateFactor(step: number, { schedule, warmupSteps, steps }: ScheduleOptions): number {
  if (step <= warmupSteps) return step / warmupSteps;
  if (schedule === 'constant') return 1;
  const span = Math.max(1, steps - warmupSteps);
  const progress = Math.min(1, (step - 1 - warmupSteps) / span);
  return schedule === 'linear' ? 1 - progress : 0.5 * (1 + Math.cos(Math.PI * progress));
}
