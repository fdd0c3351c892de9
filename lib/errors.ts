/** Every code a {@link GrpoError} can carry. `docs/errors.md` explains each one; a test compares the two lists. */
export const ERROR_CODES = [
  'INVALID_ARGUMENT',
  'INVALID_CONFIG',
  'INVALID_MODEL',
  'UNSUPPORTED_MODEL',
  'INVALID_ADAPTER',
  'INVALID_CHECKPOINT',
  'INVALID_TOKENIZER',
  'INVALID_TASKS',
  'CONTEXT_EXCEEDED',
  'OUT_OF_MEMORY',
  'ABORTED',
  'CLOSED',
  'NATIVE_MISSING',
  'LIBTORCH_MISSING',
  'BUILD_FAILED',
  'DOWNLOAD_FAILED',
  'SANDBOX_UNAVAILABLE',
  'SANDBOX_FAILED',
  'RUN_EXISTS',
  'RUN_INVALID',
  'RUN_LOCKED',
  'EPISODES_INVALID',
  'IO_FAILED',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * The one error class of the package.
 *
 * The message has the form `[operation] what was expected, what was found, what to do`.
 *
 * @example
 * throw new GrpoError('INVALID_ARGUMENT', 'update', 'rows must not be empty');
 */
export class GrpoError extends Error {
  readonly code: ErrorCode;
  readonly operation: string;

  constructor(code: ErrorCode, operation: string, message: string, options?: { cause?: unknown }) {
    super(`[${operation}] ${message}`, options);
    this.name = 'GrpoError';
    this.code = code;
    this.operation = operation;
  }
}
