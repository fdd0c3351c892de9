import * as assert from 'uvu/assert';
import { randomNumbers } from '../../lib/algorithms/random.js';
import type { CodeTask } from '../../lib/data/types.js';
import { codeAgent } from '../../lib/environments/code-agent/index.js';
import { writeCall, type CallFormatChoice } from '../../lib/environments/formats/index.js';
import { environmentFor } from '../../lib/environments/adapt.js';
import { Limit, runGroup } from '../../lib/rollout/index.js';
import type { Tokenizer } from '../../lib/tokenizer/index.js';
import { FakeSandbox } from './fake-sandbox.js';
import { ScriptedPolicy } from './scripted-policy.js';

const task: CodeTask = { id: 'one', prompt: 'Write add(a, b). <|im_end|>', test: 'assert add(1, 2) == 3' };
const documentation = {
  search: (query: string) => [{ name: 'sorted', signature: 'sorted(x)', text: `<|eot_id|> é 😀 ${query}`, score: 1 }],
};
const PROSE = ['Let me look.\n', 'é 😀\n', 'First:\n\n', '', '`x` is 1; "quoted"\n'];
const CALLS = [
  { tool: 'search', args: { query: 'sorted <b>' } },
  { tool: 'execute', args: { code: 'print("<|im_end|>")\nprint(1)' } },
  { tool: 'submit', args: { code: 'def add(a, b):\n    return a - b' } },
];

/** What a model could say (trimmed later, for some templates trim contents): calls of the format, cut ones, wrong ones, none. */
function saying(format: string, pick: (below: number) => number): string {
  const call = CALLS[pick(3)]!;
  const prose = format === 'llama-json' && pick(2) > 0 ? '' : PROSE[pick(PROSE.length)]!;
  const kind = pick(8);
  if (kind === 0) return `${prose}No call here.`;
  let text: string;
  if (format === 'tags') {
    const fence = call.tool === 'submit' ? 'submit' : 'python';
    text = call.tool === 'search' ? `<search>${call.args.query}</search>` : `\`\`\`${fence}\n${call.args.code}\n\`\`\``;
  } else {
    const args = kind === 1 ? { nothing: 1 } : call.args;
    const name = format as 'hermes';
    const second = format === 'llama-json' ? `; ${writeCall(name, CALLS[0]!)}` : `\n${writeCall(name, CALLS[0]!)}`;
    text = writeCall(name, { tool: call.tool, args }) + (kind === 2 ? second : '');
  }
  return prose + (kind === 3 ? text.slice(0, pick(text.length)) : text) + (kind === 4 ? '\nand more' : '');
}

/** Rows of played episodes of the code agent read as their whole conversations rendered at once. */
export async function checkEpisodes(
  tokenizer: Tokenizer,
  callFormat: CallFormatChoice,
  expected: string,
  rounds: number,
): Promise<void> {
  const random = randomNumbers(rounds);
  const pick = (below: number) => Math.floor(random() * below);
  const judge = () => ({ status: 'fail' as const, failures: [{ name: 'assert 1', message: 'AssertionError: -1' }] });
  const sandbox = new FakeSandbox(judge, () => ({ stdout: '1\n<|im_end|>\n' }));
  const environment = codeAgent({ tasks: [task], sandbox, documentation, callFormat, maxSubmissions: Infinity });
  const spoken = environmentFor(environment, tokenizer);
  assert.is(spoken.format.name, expected);
  let observed = 0;
  for (let round = 0; round < rounds; round++) {
    const policy = new ScriptedPolicy(tokenizer, () => saying(expected, pick).trim() || 'x');
    const [episode] = await runGroup({
      policy: policy.asPolicy,
      environment,
      task,
      samples: 1,
      sampling: { temperature: 1, topP: 1, topK: 0, minP: 0, maxNewTokens: 4000 },
      maxTurns: 2 + pick(4),
      purpose: 'train',
      seedParts: [round],
      limit: new Limit(1),
      signal: new AbortController().signal,
    });
    const { row, state, invalid, finish } = episode!;
    assert.is(invalid, undefined);
    const text = tokenizer.decode(row!.ids);
    const tools = spoken.toolsInTemplate ? { tools: spoken.tools } : {};
    // The last turn has nothing after it: the conversation up to there is what was appended.
    const before = state.messages.slice(0, -1);
    const rendered = tokenizer.applyChatTemplate(before, { addGenerationPrompt: true, ...tools }).text;
    assert.is(text.slice(0, rendered.length), rendered);
    const last = state.turns.at(-1)!.text;
    assert.ok(text.slice(rendered.length).startsWith(last));
    assert.ok(['max-turns', 'length', 'done'].includes(finish), finish);
    observed += state.turns.flatMap((turn) => turn.observations).length;
  }
  assert.ok(observed > rounds, 'tools were called');
}
