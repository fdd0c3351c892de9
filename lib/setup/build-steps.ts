/** How far a build is. */
export interface BuildSteps {
  done: number;
  total: number;
}

/**
 * The newest count in what ninja (`[12/85] Building…`) or make (`[ 14%] Building…`) printed; make counts to 100.
 *
 * @returns undefined where there is none
 */
export function buildSteps(text: string): BuildSteps | undefined {
  const [, done, total, percent] = [...text.matchAll(/^\[\s*(?:(\d+)\/(\d+)|(\d+)%)\]/gm)].at(-1) ?? [];
  if (percent !== undefined) return { done: Number(percent), total: 100 };
  return done === undefined ? undefined : { done: Number(done), total: Number(total) };
}
