import { UsageError } from './usage-error.js';

/** A yargs option that takes one whole number. */
export const wholeNumber = (name: string, least: number, describe: string, most = Infinity) =>
  ({
    type: 'string',
    requiresArg: true,
    describe,
    coerce: (value: unknown): number | undefined => {
      if (value === undefined || typeof value === 'number') return value;
      const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : NaN;
      if (Number.isSafeInteger(number) && number >= least && number <= most) return number;
      const bounds = most === Infinity ? `>= ${least}` : `of ${least} to ${most}`;
      throw new UsageError(`--${name} must be one whole number ${bounds}, but got ${JSON.stringify(value)}`);
    },
  }) as const;
