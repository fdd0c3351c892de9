/** How a call with a deadline ended. */
export type Settled<T> =
  { kind: 'value'; value: T } | { kind: 'error'; error: unknown } | { kind: 'timeout' } | { kind: 'aborted' };

/**
 * Awaits a call for so long and no longer: past the deadline its signal is aborted and the result is 'timeout', even when
 * the call never looks at the signal.
 */
export async function withDeadline<T>(
  call: (signal: AbortSignal) => Promise<T> | T,
  timeoutMs: number,
  outer: AbortSignal,
): Promise<Settled<T>> {
  if (outer.aborted) return { kind: 'aborted' };
  const controller = new AbortController();
  return new Promise<Settled<T>>((resolve) => {
    const settle = (result: Settled<T>) => {
      clearTimeout(timer);
      outer.removeEventListener('abort', onAbort);
      resolve(result);
      if (result.kind === 'timeout' || result.kind === 'aborted') controller.abort();
    };
    const onAbort = () => settle({ kind: 'aborted' });
    const timer = setTimeout(() => settle({ kind: 'timeout' }), timeoutMs);
    outer.addEventListener('abort', onAbort, { once: true });
    void (async () => call(controller.signal))().then(
      (value) => settle({ kind: 'value', value }),
      (error: unknown) => settle({ kind: 'error', error }),
    );
  });
}
