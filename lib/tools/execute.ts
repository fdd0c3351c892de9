import type { CodeTask } from '../data/types.js';
import type { Tool, ToolOutput } from '../environments/types.js';
import type { RunResult, SandboxLike } from '../sandbox/types.js';
import { defineTool } from './define-tool.js';

const TRACE_LINES = 6;

export interface ExecuteOptions {
  /** Of one program. @default 10000 */
  timeoutMs?: number;
  /** Of one program. @default 512 */
  memoryMb?: number;
}

/** The tool that runs a Python program in the sandbox and shows what it printed. */
export function executeTool(sandbox: SandboxLike, options: ExecuteOptions = {}): Tool {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const memoryMb = options.memoryMb ?? 512;
  return defineTool({
    name: 'execute',
    description: 'Runs a Python program and shows what it printed.',
    parameters: { type: 'object', properties: { code: { type: 'string', minLength: 1 } }, required: ['code'] },
    maxTokens: 512,
    keep: 'end',
    // The sandbox ends the program; this wider limit is for a sandbox that does not answer.
    timeoutMs: timeoutMs + 60_000,
    run: async (args, { task, signal }) => {
      const { files } = task as CodeTask;
      let result: RunResult;
      try {
        result = await sandbox.run({ code: String(args['code']), files, timeoutMs, memoryMb, signal });
      } catch (error) {
        return { text: '', invalid: `sandbox: ${(error as Error).message}` };
      }
      return toOutput(result, timeoutMs, memoryMb);
    },
  });
}

function toOutput(result: RunResult, timeoutMs: number, memoryMb: number): ToolOutput {
  if (result.status === 'infra') return { text: '', invalid: `sandbox: ${result.stderr.trim() || 'no reason given'}` };
  const printed = result.stdout.trimEnd();
  if (result.status === 'ok') {
    const warned = result.stderr.trimEnd();
    const shown = [printed, warned].filter((part) => part !== '').join('\n');
    return { text: shown === '' ? '(the program printed nothing)' : shown };
  }
  const reasons: Record<string, string> = {
    timeout: `the program was stopped after ${timeoutMs / 1000} seconds`,
    memory: `the program used more than ${memoryMb} MB of memory`,
    output: 'the program printed too much',
    error: endOfTrace(result),
  };
  return {
    text: [printed, `ERROR: ${reasons[result.status]}`].filter((part) => part !== '').join('\n'),
    isError: true,
  };
}

function endOfTrace(result: RunResult): string {
  const lines = result.stderr.trimEnd().split('\n');
  const end = lines.slice(-TRACE_LINES).join('\n').trim();
  return end === '' ? `the program ended with exit code ${result.exitCode ?? 'none'}` : end;
}
