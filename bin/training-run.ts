import { GrpoError } from '../lib/errors.js';
import { onInterrupt, trainingStops } from './interrupt.js';
import type { Interruption } from './interrupt.js';

/**
 * Runs a command that trains: a signal ends it after the present step, with the state saved and the signal's exit code.
 *
 * @param work what trains, under the signals of the interruption
 */
export async function runTraining(
  work: (signals: Pick<Interruption, 'stop' | 'signal'>) => Promise<unknown>,
): Promise<void> {
  const interruption = onInterrupt(trainingStops);
  try {
    await work({ stop: interruption.stop, signal: interruption.signal });
    process.exitCode = interruption.exitCode() ?? process.exitCode ?? 0;
  } catch (error) {
    const code = interruption.exitCode();
    // Stopped before there was anything to save, e.g. while the model was loading.
    if (code === undefined || !(error instanceof GrpoError && error.code === 'ABORTED')) throw error;
    process.exitCode = code;
  } finally {
    interruption.dispose();
  }
}
