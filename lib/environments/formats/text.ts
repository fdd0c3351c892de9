/** Text outside of `<think>…</think>`; what follows an unclosed `<think>` is thinking too. */
export function withoutThinking(text: string, startsInThinking = false): string {
  const whole = startsInThinking ? `<think>${text}` : text;
  return whole.replace(/<think>[^]*?(?:<\/think>|$)/g, '');
}

/** `JSON.parse`, or undefined with the parser's message. */
export function parseJson(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `the call is not valid JSON: ${(error as Error).message}` };
  }
}
