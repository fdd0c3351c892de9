/** The function that a record's tests call. */
export interface MbppTarget {
  name: string;
  /** `def name(parameters):`, on one line. */
  signature: string;
}

/** The function of the reference code that the first assert calls; undefined where it calls none of them. */
export function mbppTarget(code: string, testList: string[]): MbppTarget | undefined {
  const defined = [...code.matchAll(/(?<=^|\n)(?:async )?def\s+(\w+)\s*\(/g)];
  const called = [...(testList[0] ?? '').matchAll(/(\w+)\s*\(/g)].map(([, name]) => name);
  const match = called.flatMap((name) => defined.filter(([, candidate]) => candidate === name)).at(0);
  const name = match?.[1];
  if (match === undefined || name === undefined) return undefined;
  const open = match.index + match[0].length - 1;
  const parameters = code.slice(open, closingParenthesis(code, open) + 1).replace(/\s*\n\s*/g, ' ');
  return { name, signature: `def ${name}${parameters}:` };
}

/**
 * The task's text, the function's signature and the first assert as an example, as the benchmark's own prompt shows its
 * asserts: without them nobody could know the name. The other asserts are not shown.
 */
export function mbppPrompt(question: string, testList: string[], target: MbppTarget | undefined): string {
  const signature = target === undefined ? '' : `\n\nYour code must define \`${target.signature}\``;
  return `${question.trim()}${signature}\n\nFor example:\n${testList[0]!.trim()}`;
}

function closingParenthesis(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === '(') depth += 1;
    else if (code[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return code.length - 1;
}
