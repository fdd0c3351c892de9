import type { NativeCancel, NativeCore } from '../addon-types.js';
import { ERROR_CODES, GrpoError, type ErrorCode } from '../errors.js';

interface NativeFailure {
  code?: unknown;
  operation?: unknown;
  message?: unknown;
}

/** Makes a GrpoError of what the core threw; anything else passes through. */
export function fromNative(error: unknown): unknown {
  if (error instanceof GrpoError || !(error instanceof Error)) return error;
  const { code, operation } = error as NativeFailure;
  if (typeof operation !== 'string' || !ERROR_CODES.includes(code as ErrorCode)) return error;
  return new GrpoError(code as ErrorCode, operation, error.message, { cause: error });
}

/**
 * Runs native work that an AbortSignal may cancel.
 *
 * @throws GrpoError with the core's own code
 */
export async function callNative<T>(
  core: NativeCore,
  signal: AbortSignal | undefined,
  work: (cancel: NativeCancel) => Promise<T>,
): Promise<T> {
  const cancel = core.createCancel();
  const onAbort = () => cancel.cancel();
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(cancel);
  } catch (error) {
    throw fromNative(error);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
