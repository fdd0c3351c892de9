import { availableParallelism } from 'node:os';
import type { Argv } from 'yargs';
import { checkTasks, type FailedTask, type TaskCheck } from '../../lib/data/check-tasks.js';
import { brokenTasks } from '../../lib/data/broken.js';
import { loadTasks } from '../../lib/data/load-tasks.js';
import { Sandbox } from '../../lib/sandbox/index.js';
import type { SandboxBackend } from '../../lib/sandbox/types.js';
import { startProgress } from '../../lib/terminal/progress.js';
import { wholeNumber } from '../whole-number.js';

export const command = 'tasks';
export const describe = 'check task files';

interface CheckArguments {
  file: string;
  json: boolean;
  broken: boolean;
  limit: number | undefined;
  concurrency: number | undefined;
  timeoutMs: number | undefined;
  sandbox: 'auto' | SandboxBackend;
  python: string;
  sandboxImage?: string;
  sandboxEngine?: 'docker' | 'podman';
  allowUnsandboxed: boolean;
}

const backends = ['auto', 'bubblewrap', 'container', 'pyodide', 'process'] as const;

export function builder(yargs: Argv): Argv {
  return yargs
    .command(
      'check <file>',
      'run the reference solutions of a task file against their tests',
      (inner) =>
        inner
          .positional('file', {
            type: 'string',
            demandOption: true,
            describe: 'task file (JSONL, Parquet), or a data set of the hub',
          })
          .option('json', { type: 'boolean', default: false, describe: 'print the result as JSON' })
          .option('broken', {
            type: 'boolean',
            default: false,
            describe: 'make every solution return None: all must fail, or their tests prove nothing',
          })
          .option('limit', wholeNumber('limit', 1, 'check the first so many tasks'))
          .option(
            'concurrency',
            wholeNumber('concurrency', 1, 'tasks at the same time; one for each processor by default'),
          )
          .option('timeout-ms', wholeNumber('timeout-ms', 1, "limit of one task's tests, in ms"))
          .option('sandbox', { choices: backends, default: backends[0], describe: 'where the programs run' })
          .option('sandbox-image', { type: 'string', describe: 'image of the container sandbox' })
          .option('sandbox-engine', { choices: ['docker', 'podman'], describe: 'what runs the containers' })
          .option('python', { type: 'string', default: 'python3', describe: 'interpreter' })
          .option('allow-unsandboxed', { type: 'boolean', default: false, describe: 'allow --sandbox process' }),
      async (args) => check(args as unknown as CheckArguments),
    )
    .demandCommand(1, 'say tasks check FILE');
}

/** yargs calls this only where no sub-command was named; `demandCommand` has answered then. */
export function handler(): void {}

async function check(args: CheckArguments): Promise<void> {
  const loaded = await loadTasks(args.file, { take: args.limit });
  const tasks = args.broken ? brokenTasks(loaded) : loaded;
  const sandbox = await Sandbox.open({
    backend: args.sandbox,
    python: args.python,
    image: args.sandboxImage,
    engine: args.sandboxEngine,
    allowUnsandboxed: args.allowUnsandboxed,
  });
  const bar = startProgress('checking', 'tasks');
  let checked = 0;
  try {
    const result = await checkTasks(tasks, sandbox, {
      concurrency: args.concurrency ?? availableParallelism(),
      timeoutMs: args.timeoutMs,
      onChecked: () => bar.update(++checked, tasks.length),
    });
    bar.stop();
    if (args.broken) {
      const judged = new Set([...result.failed, ...result.infra].map(({ id }) => id));
      const proveNothing = tasks.filter(({ id, solution }) => solution !== undefined && !judged.has(id));
      const ids = proveNothing.map(({ id }) => id);
      process.stdout.write(
        args.json ? `${JSON.stringify({ ...result, ids }, null, 2)}\n` : describeBroken(result, ids),
      );
      if (ids.length + result.infra.length > 0) process.exitCode = 1;
      return;
    }
    process.stdout.write(args.json ? `${JSON.stringify(result, null, 2)}\n` : describeCheck(result));
    // A file of which nothing was proven right is not all right.
    if (result.failed.length + result.infra.length > 0 || result.passed === 0) process.exitCode = 1;
  } finally {
    bar.stop();
    await sandbox.close();
  }
}

function describeCheck(result: TaskCheck): string {
  const { failed, infra, withoutSolution } = result;
  const counts = [
    `${result.tasks} tasks`,
    `${result.passed} passed`,
    `${failed.length} failed`,
    ...(infra.length > 0 ? [`${infra.length} not judged`] : []),
    ...(withoutSolution.length > 0 ? [`${withoutSolution.length} without a solution`] : []),
  ];
  return [
    `${counts.join(', ')} (${result.seconds.toFixed(1)} s)`,
    ...failed.map(describeFailure),
    ...infra.map(describeFailure),
    '',
  ].join('\n');
}

/** With `--broken` a pass is what is wrong. */
function describeBroken(result: TaskCheck, passing: string[]): string {
  const { infra, withoutSolution } = result;
  const counts = [
    `${result.tasks} broken solutions`,
    `${result.failed.length} failed as they must`,
    `${passing.length} passed`,
    ...(infra.length > 0 ? [`${infra.length} not judged`] : []),
    ...(withoutSolution.length > 0 ? [`${withoutSolution.length} without a function to break`] : []),
  ];
  return [
    `${counts.join(', ')} (${result.seconds.toFixed(1)} s)`,
    ...passing.map((id) => `  ${id}: its tests pass a solution that returns None`),
    ...infra.map(describeFailure),
    '',
  ].join('\n');
}

function describeFailure({ id, status, failures }: FailedTask): string {
  const [first] = failures;
  const reason = first === undefined ? '' : `: ${first.name}: ${first.message.split('\n')[0]}`;
  return `  ${id}: ${status}${reason}`;
}
