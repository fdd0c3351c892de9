import type { Job } from './jobs.js';
import type { Answer } from './worker.js';

/** Runs jobs one way. */
export interface Runner {
  /** Whether interpreters are kept started between programs. */
  readonly isWarm: boolean;
  run(job: Job, signal: AbortSignal): Promise<Answer>;
  /** Ends everything and waits for it. */
  close(): Promise<void>;
}
