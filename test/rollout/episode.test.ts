import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Environment, Tool } from '../../lib/environments/types.js';
import { Limit, runGroup } from '../../lib/rollout/index.js';
import type { Episode } from '../../lib/rollout/index.js';
import { charTokenizer, FakePolicy, TURN_END } from './fake-policy.js';
import type { Script } from './fake-policy.js';
import { textTool, wordEnvironment } from './fake-environment.js';

interface Setup {
  script: Script;
  environment?: Environment;
  maxContext?: number;
  maxNewTokens?: number;
  maxTurns?: number;
  samples?: number;
  signal?: AbortSignal;
  limit?: Limit;
}

async function run(setup: Setup): Promise<{ episodes: Episode[]; policy: FakePolicy }> {
  const environment = setup.environment ?? wordEnvironment();
  const policy = new FakePolicy({ script: setup.script, maxContext: setup.maxContext });
  const episodes = await runGroup({
    policy,
    environment,
    task: environment.tasks[0]!,
    samples: setup.samples ?? 1,
    sampling: { temperature: 1, topP: 1, topK: 0, minP: 0, maxNewTokens: setup.maxNewTokens ?? 200 },
    maxTurns: setup.maxTurns ?? 3,
    purpose: 'train',
    seedParts: [42],
    limit: setup.limit ?? new Limit(8),
    signal: setup.signal ?? new AbortController().signal,
  });
  assert.is(policy.alive, 0, 'every session is closed');
  return { episodes, policy };
}

const withTool = (tool: Tool) => wordEnvironment({ tools: [tool, ...wordEnvironment().tools] });
const assistantTurns = (context: string) => context.split('<turn>assistant').length - 1;

test('sampled ids, observations and the end of a turn form one row with its mask', async () => {
  const { episodes } = await run({
    script: (context) => (assistantTurns(context) === 1 ? 'hm <echo>a</echo> and more' : '<submit>w0</submit>'),
  });
  const { row, state, reward, finish } = episodes[0]!;
  assert.is(finish, 'done');
  assert.equal(reward, { value: 1, parts: { right: 1 } });
  const prompt = charTokenizer.applyChatTemplate([{ role: 'user', content: 'say w0' }], {
    addGenerationPrompt: true,
  }).ids;
  const middle = [
    TURN_END,
    10,
    ...charTokenizer.applyChatTemplate([{ role: 'user', content: 'heard a' }], { addGenerationPrompt: true }).ids,
  ];
  const first = charTokenizer.encode('hm <echo>a</echo>');
  const second = charTokenizer.encode('<submit>w0</submit>');
  assert.equal(Array.from(row!.ids), [...prompt, ...first, ...middle, ...second]);
  const bits = (ids: ArrayLike<number>, bit: number) => Array.from(ids, () => bit);
  const mask = [...bits(prompt, 0), ...bits(first, 1), ...bits(middle, 0), ...bits(second, 1)];
  assert.equal(Array.from(row!.mask), mask);
  assert.is(row!.samplerLogprobs.length, row!.ids.length - 1);
  row!.samplerLogprobs.forEach((value, index) => assert.is(Number.isNaN(value), mask[index + 1] === 0));
  assert.equal(
    state.turns.map((turn) => turn.start),
    [prompt.length, prompt.length + first.length + middle.length],
  );
  assert.equal(
    state.turns.map((turn) => turn.observations),
    [['heard a'], ['PASS']],
  );
});

test('a stop string without a complete call goes on in the same turn, with another seed', async () => {
  const { episodes, policy } = await run({ script: () => 'if a > b: <submit>w0</submit>' });
  assert.is(episodes[0]!.state.turns.length, 1);
  assert.is(episodes[0]!.state.turns[0]!.text, 'if a > b: <submit>w0</submit>');
  assert.is(policy.seeds.length, 3, 'paused at >, at <submit>, done at </submit>');
  assert.is(new Set(policy.seeds).size, 3);
});

test('a turn that the model ended itself is continued without a second turn end', async () => {
  const environment = wordEnvironment({ reply: () => [{ role: 'user', content: 'again' }] });
  const { episodes } = await run({
    environment,
    script: (context) => (assistantTurns(context) === 1 ? 'no call' : '<submit>w0</submit>'),
  });
  const text = charTokenizer.decode(episodes[0]!.row!.ids);
  assert.ok(text.includes('no call<end>\n<turn>user\nagain<end>'), text);
  assert.not(text.includes('<end><end>'));
  const sampledEnd = text.replaceAll('<turn>', 'T').replaceAll('<end>', 'E').indexOf('no callE') + 'no call'.length;
  assert.is(episodes[0]!.row!.mask[sampledEnd], 1, 'the sampled turn end is trained');
});

test('without a reply a turn without a call ends the episode', async () => {
  const { episodes } = await run({ script: () => 'I do not know' });
  assert.is(episodes[0]!.finish, 'no-call');
  assert.is(episodes[0]!.reward!.value, 0);
});

test('turns without a call are answered until there are as many as the environment allows', async () => {
  const reply = () => [{ role: 'user' as const, content: 'call a tool' }];
  const script: Script = (context) => (assistantTurns(context) === 2 ? '<echo>a</echo>' : 'no call');
  const ends = async (maxNoCallTurns: number | undefined) => {
    const { episodes } = await run({ script, maxTurns: 5, environment: wordEnvironment({ reply, maxNoCallTurns }) });
    const { finish, state } = episodes[0]!;
    return [finish, state.turns.length, state.messages.filter(({ content }) => content === 'call a tool').length];
  };
  assert.equal(await ends(1), ['no-call', 1, 0]);
  assert.equal(await ends(2), ['no-call', 3, 1], 'turns with a call between do not count');
  assert.equal(await ends(undefined), ['max-turns', 5, 3]);
});

test('unknown tools, wrong arguments, exceptions and broken calls become counted observations', async () => {
  const broken = textTool('bad', () => {
    throw new Error('no such column');
  });
  const said = ['<nope>x</nope>', '<echo>nothing</echo>', '<bad>x</bad>', '<broken', '<submit>w0</submit>'];
  const { episodes } = await run({
    environment: withTool(broken),
    maxTurns: 5,
    script: (context) => said[assistantTurns(context) - 1]!,
  });
  const { state, counters, finish } = episodes[0]!;
  assert.is(finish, 'done');
  const observations = state.turns.map((turn) => turn.observations.join());
  assert.match(observations[0]!, /there is no tool nope; the tools are: bad, echo, submit/);
  assert.match(observations[1]!, /wrong arguments for echo: .*text/);
  assert.is(observations[2], 'ERROR: no such column');
  assert.is(observations[3], 'a call was not closed');
  assert.equal(counters, { calls: 4, callErrors: 3, malformed: 1, cutObservations: 0, truncatedTurns: 0 });
});

test('a stuck tool is cut by its timeout, and its signal is aborted', async () => {
  let heard: AbortSignal | undefined;
  const stuck = textTool(
    'stuck',
    (_args, { signal }) => {
      heard = signal;
      return new Promise<string>(() => undefined);
    },
    { timeoutMs: 30 },
  );
  const { episodes } = await run({
    environment: withTool(stuck),
    script: (context) => (assistantTurns(context) === 1 ? '<stuck>x</stuck>' : '<submit>w0</submit>'),
  });
  assert.match(episodes[0]!.state.turns[0]!.observations[0]!, /stuck gave no answer within 0.03 s/);
  assert.ok(heard?.aborted);
  assert.is(episodes[0]!.reward!.value, 1);
});

test('a slow tool stalls nobody', async () => {
  let release: (value: string) => void = () => undefined;
  let calls = 0;
  const slow = textTool('slow', () => {
    calls++;
    return calls === 1 ? new Promise<string>((resolve) => (release = resolve)) : 'fast';
  });
  const ended: number[] = [];
  const environment = withTool(slow);
  const policy = new FakePolicy({
    script: (context) => (assistantTurns(context) === 1 ? '<slow>x</slow>' : '<submit>w0</submit>'),
  });
  await runGroup({
    policy,
    environment,
    task: environment.tasks[0]!,
    samples: 4,
    sampling: { temperature: 1, topP: 1, topK: 0, minP: 0, maxNewTokens: 200 },
    maxTurns: 3,
    purpose: 'train',
    seedParts: [1],
    limit: new Limit(4),
    signal: new AbortController().signal,
    onEpisode: (_episode, sample) => {
      ended.push(sample);
      if (ended.length === 3) release('late');
    },
  });
  assert.is(ended.length, 4);
  assert.is(policy.opened, 1, 'the prompt is opened once');
});

test('a long observation is cut by tokens, with a mark, on the side that is named', async () => {
  const long = (keep: 'start' | 'end') =>
    textTool('long', () => `begin${'x'.repeat(1000)}finish`, { maxTokens: 40, keep });
  for (const keep of ['start', 'end'] as const) {
    const { episodes } = await run({
      environment: withTool(long(keep)),
      script: (context) => (assistantTurns(context) === 1 ? '<long>x</long>' : '<submit>w0</submit>'),
    });
    const text = episodes[0]!.state.turns[0]!.observations[0]!;
    assert.ok(text.length <= 40, `${text.length}`);
    assert.match(text, keep === 'start' ? /^beginx+\n\[\.\.\. cut \.\.\.\]$/ : /^\[\.\.\. cut \.\.\.\]\nx+finish$/);
    assert.is(episodes[0]!.counters.cutObservations, 1);
  }
});

test('an observation that does not fit ends the episode as a full context, scored and whole', async () => {
  const huge = textTool('huge', () => 'y'.repeat(100_000), { maxTokens: 100_000 });
  const { episodes } = await run({ environment: withTool(huge), maxContext: 512, script: () => '<huge>x</huge>' });
  const { finish, invalid, row, reward } = episodes[0]!;
  assert.is(finish, 'context');
  assert.is(invalid, undefined);
  assert.is(reward!.value, 0);
  assert.ok(row!.ids.length < 100);
});

test('a turn cut by the token limit ends the episode as length', async () => {
  const { episodes } = await run({ maxNewTokens: 4, script: () => 'endless words' });
  assert.is(episodes[0]!.finish, 'length');
  assert.is(episodes[0]!.tokens, 4);
  assert.is(episodes[0]!.counters.truncatedTurns, 1);
});

test('a prompt over the context gives invalid episodes that name it', async () => {
  const { episodes } = await run({ maxContext: 10, samples: 2, script: () => 'x' });
  assert.is(episodes.length, 2);
  assert.match(episodes[1]!.invalid!, /the prompt of task t0 has \d+ tokens, the context holds 10/);
  assert.is(episodes[0]!.reward, undefined);
});

test('a reward that throws or is no number makes its episode invalid, never 0', async () => {
  let calls = 0;
  const environment = wordEnvironment({
    rewards: [
      {
        name: 'judge',
        score: () => {
          calls++;
          if (calls === 1) throw new Error('judge is down');
          return calls === 2 ? NaN : calls === 3 ? { invalid: 'no verdict' } : 0.5;
        },
      },
    ],
  });
  const { episodes } = await run({ environment, samples: 4, limit: new Limit(1), script: () => 'x' });
  assert.equal(
    episodes.map((episode) => episode.invalid),
    ['reward judge failed: judge is down', 'reward judge gave NaN, not a finite number', 'no verdict', undefined],
  );
  assert.equal(
    episodes.map((episode) => episode.reward?.value),
    [undefined, undefined, undefined, 0.5],
  );
});

test('rewards are weighted and their parts keep their names', async () => {
  const environment = wordEnvironment({
    rewards: [
      { name: 'a', weight: 2, score: () => ({ value: 0.75, parts: { x: 0.5, y: 0.25 } }) },
      { name: 'b', score: () => -1 },
    ],
  });
  const { episodes } = await run({ environment, script: () => 'x' });
  assert.equal(episodes[0]!.reward, { value: 0.5, parts: { 'a.x': 1, 'a.y': 0.5, b: -1 } });
});

test('a tool that reports failed infrastructure makes the episode invalid', async () => {
  const down = textTool('down', () => ({ text: '', invalid: 'sandbox is gone' }));
  const { episodes } = await run({ environment: withTool(down), script: () => '<down>x</down>' });
  assert.is(episodes[0]!.invalid, 'sandbox is gone');
  assert.is(episodes[0]!.finish, 'invalid');
});

test('the limit holds and every sample has seeds of its own', async () => {
  const { policy } = await run({ samples: 8, limit: new Limit(3), script: () => 'x' });
  assert.ok(policy.mostGenerating <= 3, `${policy.mostGenerating}`);
  assert.is(new Set(policy.seeds).size, 8);
});

test('an abort ends all episodes as aborted', async () => {
  const controller = new AbortController();
  const { episodes } = await run({
    samples: 3,
    signal: controller.signal,
    script: () => {
      controller.abort();
      return 'x';
    },
  });
  assert.equal(
    episodes.map((episode) => episode.finish === 'aborted' || episode.invalid === 'aborted'),
    [true, true, true],
  );
});

test("tool results are recorded as the user's where the template has no tool role", async () => {
  const { format, ...rest } = wordEnvironment();
  const environment: Environment = {
    ...rest,
    format: {
      ...format,
      observe: (results) => results.map(({ output }) => ({ role: 'tool', name: 'echo', content: output.text })),
    },
  };
  const { episodes } = await run({
    environment,
    script: (context) => (assistantTurns(context) === 1 ? '<echo>a</echo>' : 'bye'),
  });
  assert.equal(episodes[0]!.state.messages[2], { role: 'user', name: 'echo', content: 'heard a' });
});

test.run();
