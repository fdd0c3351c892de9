// What users write, type-checked as they would: no cast, no `any`, no assertion. Lines that must not compile say so.
import { defineEnvironment, defineReward, defineTool, evaluate, Policy, train } from 'grpo-native';
import type { Environment, RewardContext, Task, ToolContext } from 'grpo-native';

interface Sum extends Task {
  answer: number;
}

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'object',
    properties: {
      a: { type: 'number' },
      b: { type: 'integer' },
      rounding: { enum: ['up', 'down'] },
      more: { type: 'array', items: { type: 'number' } },
      place: { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] },
    },
    required: ['a', 'b'],
  },
  run: ({ a, b, rounding, more, place }) => {
    const way: 'up' | 'down' | undefined = rounding;
    const sum = a + b + (more ?? []).reduce((total, value) => total + value, 0);
    // @ts-expect-error a number has no length
    void a.length;
    // @ts-expect-error what is not required may be missing
    void more.length;
    return `${sum.toFixed(1)} ${way ?? 'exact'} ${place?.line.toFixed() ?? ''}`;
  },
});

const hint = defineTool({
  name: 'hint',
  description: 'Tells a bound.',
  parameters: { type: 'object', properties: {} },
  run: (_arguments, { task, episode }: ToolContext<Sum>) => ({
    text: `less than ${task.answer + 1}`,
    outcome: episode.turns.length,
  }),
});

const parameters: Record<string, unknown> = { type: 'object', properties: { text: { type: 'string' } } };
const echo = defineTool({
  name: 'echo',
  description: 'A schema that comes from elsewhere.',
  parameters,
  run: ({ text }) => {
    // @ts-expect-error nothing is known of it
    void text.length;
    return String(text);
  },
});

const near = defineReward({
  name: 'near',
  score: ({ task, turns }: RewardContext<Sum>) => 1 / (1 + Math.abs(task.answer - turns.length)),
});
const short = defineReward({ name: 'short', weight: 0.1, score: ({ turns }) => (turns.length <= 2 ? 1 : 0) });

const environment = defineEnvironment({
  name: 'sums',
  tasks: [{ id: 'one', prompt: 'What is 17 + 25?', answer: 42 }],
  tools: [add, hint, echo],
  rewards: [
    near,
    short,
    { name: 'right', score: ({ task, turns }) => (turns.at(-1)?.text.includes(task.answer.toFixed()) ? 1 : 0) },
    // @ts-expect-error tasks have no such field
    { name: 'wrong', score: ({ task }) => (task.anser === 42 ? 1 : 0) },
  ],
  prompt: (task) => [{ role: 'user', content: `${task.prompt} (below ${task.answer + 10})` }],
  figures: ({ task }) => ({ answer: task.answer }),
});

const { run, metrics, evaluations } = await train({ model: 'MODEL', environment, steps: 1, rewards: [near, short] });
const reward: number | null | undefined = metrics?.reward_mean;
const passes = evaluations.map(({ pass_rate }) => pass_rate?.toFixed(2));

const { baseline } = await evaluate({ model: 'MODEL', environment });
const policy = await Policy.load('MODEL', { lora: { rank: 4 } });
const session = await policy.open([1, 2, 3]);
const turn = await session.generate({ maxNewTokens: 4 });
const { loss } = await policy.update({ rows: [{ ...session.row(), advantage: 1 }] });
await policy.close();

// @ts-expect-error the names of options are checked
await train({ model: 'MODEL', environment, step: 1 });

export const shown: [Environment, unknown[]] = [
  environment,
  [run, reward, passes, baseline[0]?.n, turn.text, loss.toFixed()],
];
