// GRPO by hand: sample groups, reward them, compare, update. Run it: node examples/own-loop.js
import { Policy, Tokenizer } from 'grpo-native';

const STEPS = 20;
const GROUP_SIZE = 16;
const TASKS = ['the gako of x, from module tadi', 'the kimo of x, from module vatu', 'the siba of x, from module lodu'];
const SYSTEM = `Write Python.
<search>words</search> asks the documentation.
\`\`\`python fences run code.
\`\`\`submit fences submit a solution.`;

const tokenizer = await Tokenizer.load('embedded:demo');
const policy = await Policy.load('embedded:demo', { lora: { rank: 8 } });
const average = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** A group of samples of one task: whoever asks first is rewarded. */
async function sampleGroup(/** @type {string} */ task) {
  const prompt = tokenizer.applyChatTemplate(
    [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: `solve(x) returns ${task}.` },
    ],
    { addGenerationPrompt: true },
  );
  const opened = await policy.open(prompt.ids); // computed once, shared by its forks
  const sessions = [];
  while (sessions.length < GROUP_SIZE) sessions.push(await opened.fork());
  opened.close();
  return Promise.all(
    sessions.map(async (session) => {
      const { text } = await session.generate({ maxNewTokens: 48 });
      const row = session.row(); // ids, which of them were sampled, their log-probs
      session.close();
      return { row, reward: text?.startsWith('<search>') ? 1 : 0 };
    }),
  );
}

for (let step = 1; step <= STEPS; step++) {
  const groups = await Promise.all(TASKS.map(sampleGroup));
  const rows = groups.flatMap((group) => {
    const mean = average(group.map(({ reward }) => reward));
    const deviation = Math.sqrt(average(group.map(({ reward }) => (reward - mean) ** 2)));
    return group.map(({ row, reward }) => ({ ...row, advantage: (reward - mean) / (deviation + 1e-4) }));
  });
  const { gradNorm } = await policy.update({ rows, optimizer: { learningRate: 2e-3 } });
  const mean = average(groups.flat().map(({ reward }) => reward));
  console.log(`step ${step}  reward ${mean.toFixed(3)}  gradient norm ${gradNorm.toFixed(4)}`);
}

await policy.saveAdapter('my-adapter'); // a PEFT folder
await policy.close();
