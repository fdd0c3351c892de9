import type { ParsedTurn } from '../types.js';

/** Text outside of `<think>…</think>`; what follows an unclosed `<think>` is thinking too. */
export function withoutThinking(text: string, startsInThinking = false): string {
  const whole = startsInThinking ? `<think>${text}` : text;
  return whole.replace(/<think>[^]*?(?:<\/think>|$)/g, '');
}

/** Said of a turn whose only call stands in thinking. */
export const CALL_IN_THINKING = 'a call inside of thinking is not run: write it after </think>';

/** A turn whose only call stands in thinking: an error that says so, rather than silence. */
export function withCallInThinking(
  parsed: ParsedTurn,
  text: string,
  mark: string,
  startsInThinking = false,
): ParsedTurn {
  if (parsed.calls.length + parsed.malformed.length > 0) return parsed;
  const whole = startsInThinking ? `<think>${text}` : text;
  const thoughts = whole.match(/<think>[^]*?(?:<\/think>|$)/g) ?? [];
  if (!thoughts.some((thought) => thought.includes(mark))) return parsed;
  return { calls: [], malformed: [CALL_IN_THINKING] };
}

/** `JSON.parse`, or undefined with the parser's message. */
export function parseJson(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `the call is not valid JSON: ${(error as Error).message}` };
  }
}
