// A small model learns to look words up before it uses them. Run it: node examples/own-environment.js
import { defineEnvironment, defineTool, train } from 'grpo-native';

// Invented words: a function's name can be looked up, never guessed.
const syllables = ['ba', 'di', 'fo', 'gu', 'ka', 'li', 'mo', 'nu', 'pa', 'ri', 'to', 'zu'];
const words = syllables.flatMap((first) => syllables.map((second) => second + first));
const tasks = words.slice(0, 48).map((module, index) => {
  const [notion, name] = [words[index + 48], words[index + 96]];
  const prompt = `solve(x) returns the ${notion} of x, from module ${module}.`;
  return { id: module, prompt, answer: `${module}.${name}(x)`, entry: `${module}.${name}(x)\nThe ${notion} of x.` };
});

const search = defineTool({
  name: 'search',
  description: 'Finds the function that a text speaks of.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  run: ({ query }) => tasks.find(({ id }) => query.endsWith(` ${id}`))?.entry ?? 'Nothing was found.',
});

// What this model was made with; a larger one takes any words.
const system = `Write Python.
<search>words</search> asks the documentation.
\`\`\`python fences run code.
\`\`\`submit fences submit a solution.`;

const environment = defineEnvironment({
  name: 'dictionary',
  tasks,
  tools: [search],
  rewards: [{ name: 'right', score: ({ task, turns }) => (turns.at(-1)?.text.includes(task.answer) ? 1 : 0) }],
  prompt: ({ prompt }) => [
    { role: 'system', content: system },
    { role: 'user', content: prompt },
  ],
  format: 'tags',
});

await train({
  model: 'embedded:demo',
  environment,
  steps: 20,
  groupSize: 16,
  maxNewTokens: 48,
  optimizer: { learningRate: 2e-3 },
  evalSamples: 16,
});
