import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluate } from '../../lib/evaluate/index.js';
import type { EvaluationRecord, StepMetrics } from '../../lib/run/index.js';
import { quietReporter } from '../../lib/run/index.js';
import { train } from '../../lib/trainer/index.js';
import { skipAloud } from '../harness.js';
import { FakePolicy } from '../rollout/fake-policy.js';

if (spawnSync('bwrap', ['--version']).status !== 0) skipAloud('bubblewrap is not installed');

const sample = fileURLToPath(new URL('../../examples/mbpp-sample.jsonl', import.meta.url));
const records = readFileSync(sample, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { prompt: string; code: string });

/** Tries a program, then submits the reference solution in half of the draws; in mode no-tools it only answers. */
const script = (context: string, seed: number) => {
  const { code } = records.find((record) => context.includes(record.prompt))!;
  if (!context.includes('```submit')) return `The answer:\n\`\`\`python\n${code}\n\`\`\`\n`;
  const turn = context.split('<turn>assistant').length - 1;
  if (turn === 1) return 'First:\n```python\nfor i in range(2):\n    print("seen", i)\n```\nand then made up';
  return `\`\`\`submit\n${seed % 2 === 0 ? code : 'raise ValueError("wrong")'}\n\`\`\`\n`;
};

test('the code agent runs through all modes and a step, with real programs and real verdicts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-agent-'));
  const policy = new FakePolicy({ script, maxContext: 30_000 });
  const settings = { tasks: sample, steps: 1, promptsPerStep: 2, groupSize: 4, maxSubmissions: 1, maxNewTokens: 2000 };
  const { evaluations, metrics } = await train(
    { ...settings, output: join(folder, 'run'), evalSamples: 4 },
    { policy, reporter: quietReporter },
  );
  const lines = <T>(name: string) =>
    readFileSync(join(folder, 'run', name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as T);
  const byMode = (mode: string) => evaluations.find((record) => record.step === 0 && record.mode === mode)!;
  assert.is(byMode('no-tools').pass_rate, 1, 'the last block of the one reply is graded');
  assert.is(byMode('no-tools').turns_mean, 1);
  for (const mode of ['code-only', 'multi-tool']) {
    const rate = byMode(mode).pass_rate!;
    assert.ok(rate > 0 && rate < 1, `${mode} ${rate}`);
    assert.is(byMode(mode).execute_rate, 1);
  }
  assert.is(lines<EvaluationRecord>('evaluations.jsonl').length, 5);
  assert.ok(metrics!.pass_rate! > 0 && metrics!.pass_rate! < 1);
  assert.is(metrics!.episodes_invalid, 0);
  assert.is(metrics!.tool_execute_rate, 1);
  assert.is(metrics!.tool_search_rate, 0);
  assert.equal(lines<StepMetrics>('metrics.jsonl'), [metrics]);
  const [episode] = lines<{ turns: { observations?: string[] }[] }>('trajectories.jsonl');
  const [first] = episode!.turns.filter((turn) => turn.observations !== undefined);
  assert.match(first!.observations![0]!, /seen 0\nseen 1/);
  assert.is(policy.alive, 0);
  rmSync(folder, { recursive: true });
});

test('an evaluation leaves out tasks whose own solution fails, and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'grpo-excluded-'));
  const cache = process.env.GRPO_CACHE;
  process.env.GRPO_CACHE = join(folder, 'cache');
  try {
    const tasks = join(folder, 'tasks.jsonl');
    const record = (id: string, solution: string) => ({
      id,
      prompt: `Write ${id}.`,
      test: `assert ${id}(1) == 2`,
      solution,
    });
    const lines = [record('twice', 'def twice(x):\n    return 2 * x'), record('bad', 'def bad(x):\n    return x')];
    writeFileSync(tasks, lines.map((line) => JSON.stringify(line)).join('\n'));
    const said: string[] = [];
    const { baseline } = await evaluate(
      { tasks, modes: ['no-tools', 'multi-tool'], callFormat: 'hermes', maxNewTokens: 2000 },
      {
        policy: new FakePolicy({
          script: (context) =>
            context.includes('with one reply')
              ? '```python\ndef twice(x):\n    return 3 * x\n```'
              : '<tool_call>{"name": "submit", "arguments": {"code": "def twice(x):\\n    return 2 * x"}}</tool_call>',
          maxContext: 30_000,
        }),
        reporter: { ...quietReporter, message: (line) => said.push(line) },
      },
    );
    assert.equal(
      baseline.map(({ mode, n, tasks_excluded, pass_rate }) => [mode, n, tasks_excluded, pass_rate]),
      [
        ['no-tools', 1, 1, 0],
        ['multi-tool', 1, 1, 1],
      ],
    );
    assert.match(said.join('\n'), /1 of 2 tasks left out: their own solution fails here: bad \(fail\)/);
  } finally {
    if (cache === undefined) delete process.env.GRPO_CACHE;
    else process.env.GRPO_CACHE = cache;
    rmSync(folder, { recursive: true });
  }
});

test.run();
