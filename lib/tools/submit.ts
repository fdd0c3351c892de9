import type { CodeTask } from '../data/types.js';
import type { EpisodeState, Task, Tool, ToolOutput } from '../environments/types.js';
import type { SandboxLike, TestResult } from '../sandbox/types.js';
import { defineTool } from './define-tool.js';

const FAILURES_SHOWN = 3;
const MESSAGE_CHARACTERS = 300;
/** Shorter lines of a test (`pass`, `x = 1`) say nothing about it. */
const TELLING_CHARACTERS = 8;

/** What a code episode came to. */
export interface CodeOutcome {
  /** The verdict of the last submission, or of the code that was graded in its place. */
  passed: boolean;
  /** The model submitted. */
  submitted: boolean;
  /** Code was run against the tests. */
  graded: boolean;
  status: TestResult['status'] | 'no-code';
  /** Share of the tests that passed, 0..1. */
  fraction: number;
  /** Why no verdict could be had; the episode is then invalid. */
  invalid?: string;
}

export interface SubmitOptions {
  /** Submissions an episode may make: with the last one it ends. */
  maxSubmissions: (purpose: EpisodeState['purpose']) => number;
}

/** The tool that runs the task's tests against a solution; passing ends the episode. */
export function submitTool(sandbox: SandboxLike, options: SubmitOptions): Tool {
  return defineTool({
    name: 'submit',
    description: 'Submits a solution: the whole Python code, without tests. It is tested at once.',
    parameters: { type: 'object', properties: { code: { type: 'string', minLength: 1 } }, required: ['code'] },
    maxTokens: 512,
    keep: 'start',
    timeoutMs: 900_000,
    run: async (args, { task, episode, signal }): Promise<ToolOutput> => {
      const result = await grade(sandbox, task, String(args['code']), signal);
      if (result.status === 'infra') return { text: '', invalid: infraReason(result) };
      const made = Number(episode.state['submissions'] ?? 0) + 1;
      episode.state['submissions'] = made;
      const passed = result.status === 'pass';
      const outcome: CodeOutcome = {
        passed,
        submitted: true,
        graded: true,
        status: result.status,
        fraction: testFraction(result),
      };
      const done = passed || made >= options.maxSubmissions(episode.purpose);
      return {
        text: describeVerdict(result, task),
        outcome,
        done,
        ...(passed ? {} : { note: 'Mend the solution and submit it again.' }),
      };
    },
  });
}

/** Runs the task's tests against a solution. A sandbox that fails gives 'infra', never a verdict. */
export async function grade(
  sandbox: SandboxLike,
  task: Task,
  solution: string,
  signal?: AbortSignal,
): Promise<TestResult> {
  const { test, style, codePrompt, entryPoint, timeoutMs, memoryMb, files } = task as CodeTask;
  try {
    return await sandbox.test({
      solution,
      test,
      style: style ?? 'auto',
      codePrompt,
      entryPoint,
      timeoutMs,
      memoryMb,
      files,
      signal,
    });
  } catch (error) {
    const message = (error as Error).message;
    return { status: 'infra', testsRun: 0, failures: [{ name: 'sandbox', message }], wallMs: 0 };
  }
}

/** Share of the tests that passed; 0 where none ran or time was up, and below 1 for a solution that did not pass. */
export function testFraction(result: TestResult): number {
  const { status, testsRun, failures } = result;
  if (status === 'pass') return 1;
  if (status !== 'fail' || testsRun === 0) return 0;
  const found = Math.max(result.testsFound ?? testsRun, testsRun);
  const passed = result.testsPassed ?? testsRun - new Set(failures.map(({ name }) => name)).size;
  return Math.max(0, Math.min(passed, found - 1)) / found;
}

/** Why the sandbox gave no verdict. */
export function infraReason(result: TestResult): string {
  return `sandbox: ${result.failures[0]?.message ?? 'no reason given'}`;
}

/** `PASS: …`, or `FAIL: …` with the first three failures; a line of the tests is never shown. */
export function describeVerdict(result: TestResult, task: Task): string {
  const count = `${result.testsRun} test${result.testsRun === 1 ? '' : 's'}`;
  if (result.status === 'pass') return `PASS: ${count} passed`;
  if (result.status === 'timeout') return 'FAIL: the tests did not end in time';
  const failed = result.failures.length;
  const head = result.testsRun === 0 ? 'FAIL: no test could run' : `FAIL: ${failed} of ${count} failed`;
  const secret = secretLines((task as CodeTask).test);
  const shown = result.failures.slice(0, FAILURES_SHOWN).map(({ name, message }) => {
    const text = hideTests(message, secret).trim();
    return `${hideTests(name, secret).trim() || 'test'}: ${text.length > MESSAGE_CHARACTERS ? `${text.slice(0, MESSAGE_CHARACTERS)} …` : text || 'failed'}`;
  });
  return [head, ...shown].join('\n');
}

function secretLines(test: string): string[] {
  const lines = test.split('\n').map((line) => line.trim());
  const asserted = lines.map((line) => line.replace(/^assert\s+/, ''));
  return [...new Set([...lines, ...asserted])].filter((line) => line.length >= TELLING_CHARACTERS);
}

/** A message without the lines that quote the tests. */
function hideTests(message: string, secret: string[]): string {
  return message
    .split('\n')
    .filter((line) => !/^\s*(E\s+)?\+\s+where /.test(line) && !secret.some((part) => line.includes(part)))
    .join('\n');
}
