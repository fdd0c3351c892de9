import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TrainInput } from '../../lib/config/index.js';
import type { Environment } from '../../lib/environments/types.js';
import { quietReporter } from '../../lib/run/index.js';
import type { EvaluationRecord, Reporter, StepMetrics } from '../../lib/run/index.js';
import { train } from '../../lib/trainer/index.js';
import type { TrainOptions } from '../../lib/trainer/index.js';
import { FakePolicy } from '../rollout/fake-policy.js';
import type { FakeOptions } from '../rollout/fake-policy.js';
import { textTool, wordEnvironment } from '../rollout/fake-environment.js';

interface Trajectory {
  step: number;
  task: string;
  group: number;
  sample: number;
  ids: number[];
  mask: number[];
  logprobs: (number | null)[];
  turns: { role: string; text: string }[];
  reward: { value: number; parts: Record<string, number> } | null;
  advantage: number;
  finish: string;
}

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-train-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const lines = <T>(name: string): T[] =>
  readFileSync(join(folder, 'run', name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);

/** Right in half of the draws, by the seed. */
const halfRight: FakeOptions['script'] = (context, seed) => {
  const word = /say (w\d)/.exec(context)![1];
  return seed % 2 === 0 ? `<submit>${word}</submit>` : 'I give up';
};

async function run(
  input: TrainInput = {},
  fake: Partial<FakeOptions> = {},
  options: TrainOptions = {},
  environment: Environment = wordEnvironment(),
) {
  const policy = new FakePolicy({ script: halfRight, ...fake });
  const settings: TrainInput = { environment, steps: 3, promptsPerStep: 2, groupSize: 4, output: join(folder, 'run') };
  const result = await train({ ...settings, ...input }, { policy, reporter: quietReporter, ...options });
  return { policy, result };
}

test('a run writes every step, episode and evaluation once, and both adapters', async () => {
  const { policy, result } = await run({ evalEvery: 2 });
  const metrics = lines<StepMetrics>('metrics.jsonl');
  assert.equal(
    metrics.map((line) => line.step),
    [1, 2, 3],
  );
  const trajectories = lines<Trajectory>('trajectories.jsonl');
  assert.is(trajectories.length, 24);
  const places = trajectories.map(({ step, group, sample }) => `${step}/${group}/${sample}`);
  assert.is(new Set(places).size, 24);
  const evaluations = lines<EvaluationRecord>('evaluations.jsonl');
  assert.equal(
    evaluations.map((line) => [line.step, line.mode, line.split]),
    [0, 2, 3].map((step) => [step, 'multi-tool', 'held-out']),
  );
  assert.ok(existsSync(join(folder, 'run', 'adapter', 'adapter_config.json')));
  assert.ok(existsSync(join(folder, 'run', 'best', 'adapter_config.json')));
  assert.is(result.steps, 3);
  assert.not(result.interrupted);
  assert.equal(result.metrics, metrics[2]);
  assert.is(result.evaluations.length, 3);
  assert.is(policy.alive, 0);
  assert.not(policy.closed, 'a policy that was given stays open');
});

test('the metrics of a step are those of its trajectories', async () => {
  const { policy } = await run({ steps: 1 });
  const [metrics] = lines<StepMetrics>('metrics.jsonl');
  const trajectories = lines<Trajectory>('trajectories.jsonl');
  const values = trajectories.map((line) => line.reward!.value);
  const passed = values.filter((value) => value === 1).length;
  assert.ok(passed > 0 && passed < 8, 'the script must mix passes and failures');
  assert.is(metrics!.pass_rate, passed / 8);
  assert.is(metrics!.reward_mean, passed / 8);
  assert.is(metrics!.tool_submit_rate, passed / 8);
  assert.is(metrics!.tool_search_rate, null, 'there is no search tool');
  assert.is(metrics!.tool_echo_rate, 0);
  const sampled = trajectories.flatMap((line) => line.mask).filter((bit) => bit === 1).length;
  assert.is(metrics!.tokens_sampled, sampled);
  assert.is(metrics!.truncated_mass, 0.125);
  assert.is(metrics!.turns_mean, 1);
  assert.is(metrics!.loss, 0.25);
  assert.is(metrics!.kl, null);
  assert.is(metrics!.learning_rate, 5e-6);
  assert.is(metrics!.weights_version, 1);
  assert.is(metrics!.episodes_invalid, 0);
  assert.is(policy.updates.length, 1, 'one update over the whole batch');
});

test('rows carry the advantage of their own episode, whatever order episodes end in', async () => {
  let calls = 0;
  const { policy } = await run(
    { steps: 1 },
    {
      script: async (context, seed) => {
        const wait = (calls++ * 7) % 5;
        await new Promise((resolve) => setTimeout(resolve, wait));
        return halfRight(context, seed);
      },
    },
  );
  const trajectories = lines<Trajectory>('trajectories.jsonl');
  const byIds = new Map(policy.updates[0]!.rows.map((row) => [Array.from(row.ids).join(), row.advantage as number]));
  for (const group of [0, 1]) {
    const members = trajectories.filter((line) => line.group === group);
    assert.is(new Set(members.map((line) => line.task)).size, 1);
    const values = members.map((line) => line.reward!.value);
    const mean = values.reduce((sum, value) => sum + value, 0) / 4;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 3);
    for (const line of members) {
      const constant = new Set(values).size === 1;
      const expected = constant ? 0 : (line.reward!.value - mean) / (deviation + 1e-4);
      assert.ok(Math.abs(line.advantage - expected) < 1e-12);
      if (!constant) assert.ok(Math.abs(byIds.get(line.ids.join())! - expected) < 1e-12);
    }
  }
});

test('rows hold sampler log-probs, the temperature and no old log-probs; files write NaN as null', async () => {
  const { policy } = await run({ steps: 1, temperature: 0.7 });
  const { rows } = policy.updates[0]!;
  for (const row of rows) {
    assert.is(row.temperature, 0.7);
    assert.is(row.oldLogprobs, undefined);
    assert.is(row.samplerLogprobs!.length, row.ids.length - 1);
  }
  for (const line of lines<Trajectory>('trajectories.jsonl')) {
    assert.is(line.logprobs.length, line.ids.length - 1);
    line.logprobs.forEach((value, index) => assert.is(value, line.mask[index + 1] === 1 ? -0.5 : null));
    assert.equal(
      line.turns.map((turn) => turn.role),
      ['user', 'assistant'],
    );
  }
});

test('when all groups are constant the optimizer does not step, and the step is still logged', async () => {
  const warnings: string[] = [];
  const reporter: Reporter = { ...quietReporter, warning: (text) => warnings.push(text) };
  const { policy } = await run({ steps: 2 }, { script: () => 'nothing' }, { reporter });
  assert.is(policy.updates.length, 0);
  const [metrics] = lines<StepMetrics>('metrics.jsonl');
  assert.is(metrics!.groups_constant, 2);
  assert.is(metrics!.loss, null);
  assert.is(metrics!.grad_norm, null);
  assert.is(metrics!.tokens_trained, 0);
  assert.is(metrics!.update_seconds, 0);
  assert.match(metrics!.skipped!, /no group had different rewards/);
  assert.match(warnings.join('\n'), /2 of 2 groups have equal rewards/);
});

test('kept constant groups go into the update', async () => {
  const { policy } = await run({ steps: 1, constantGroups: 'keep' }, { script: () => 'nothing' });
  assert.is(policy.updates[0]!.rows.length, 8);
});

test('the learning rate follows the schedule and the loss options reach the update', async () => {
  const { policy } = await run({
    steps: 4,
    schedule: 'linear',
    warmupSteps: 2,
    optimizer: { learningRate: 1, weightDecay: 0.5 },
    loss: { klCoefficient: 0.05, correction: { kind: 'truncate' } },
    constantGroups: 'keep',
  });
  assert.equal(
    policy.updates.map((update) => update.optimizer!.learningRate),
    [0.5, 1, 1, 0.5],
  );
  assert.is(policy.updates[0]!.optimizer!.weightDecay, 0.5);
  assert.equal(policy.updates[0]!.loss, { klCoefficient: 0.05, correction: { kind: 'truncate' } });
});

test('the same seed gives the same run, another seed another', async () => {
  const idsOf = async (seed: number) => {
    rmSync(join(folder, 'run'), { recursive: true, force: true });
    await run({ steps: 2, seed });
    return lines<Trajectory>('trajectories.jsonl').map((line) => `${line.task}:${line.ids.join()}`);
  };
  const first = await idsOf(1);
  assert.equal(await idsOf(1), first);
  assert.not.equal(await idsOf(2), first);
});

test('too many invalid episodes stop the run with the reasons counted, and what was learned is saved', async () => {
  let bad = false;
  const environment = wordEnvironment({
    rewards: [
      {
        name: 'judge',
        score: ({ outcome }) => {
          if (bad) throw new Error('judge is down');
          return outcome ? 1 : 0;
        },
      },
    ],
  });
  const onUpdate = () => void (bad = true);
  try {
    await run({ evalEvery: 0 }, { onUpdate }, {}, environment);
    assert.unreachable();
  } catch (error) {
    assert.is((error as { code?: string }).code, 'EPISODES_INVALID');
    assert.match(
      (error as Error).message,
      /8 of 8 episodes are invalid \(limit 0\.5\): 8 x reward judge failed: judge is down/,
    );
  }
  assert.is(lines('metrics.jsonl').length, 1);
  assert.ok(existsSync(join(folder, 'run', 'adapter', 'adapter_config.json')));
});

test('a few invalid episodes are counted and leave every mean', async () => {
  let calls = 0;
  const environment = wordEnvironment({
    rewards: [
      {
        name: 'judge',
        score: ({ outcome }) => (calls++ % 8 === 3 ? { invalid: 'no answer' } : outcome ? 1 : 0),
      },
    ],
  });
  const { policy } = await run({ steps: 1 }, {}, {}, environment);
  const [metrics] = lines<StepMetrics>('metrics.jsonl');
  assert.is(metrics!.episodes_invalid, 1);
  assert.equal(metrics!.invalid_reasons, { 'no answer': 1 });
  const valid = lines<Trajectory>('trajectories.jsonl').filter((line) => line.reward !== null);
  assert.is(valid.length, 7);
  assert.ok(Math.abs(metrics!.reward_mean! - valid.reduce((sum, line) => sum + line.reward!.value, 0) / 7) < 1e-12);
  assert.ok(policy.updates[0]!.rows.length <= 7);
});

test('stop ends after the present step, saves, and says that it was interrupted', async () => {
  const stop = new AbortController();
  const { result } = await run({ steps: 50, evalEvery: 0 }, { onUpdate: () => stop.abort() }, { stop: stop.signal });
  assert.ok(result.interrupted);
  assert.is(result.steps, 1);
  assert.is(lines('metrics.jsonl').length, 1);
  assert.ok(existsSync(join(folder, 'run', 'adapter', 'adapter_config.json')));
});

test('a run that was stopped says how a command goes on with it, where every part has a name', async () => {
  const closing = async (input: TrainInput, options: TrainOptions) => {
    const stop = new AbortController();
    const texts: string[] = [];
    const reporter = { ...quietReporter, step: () => stop.abort(), closing: (text: string) => void texts.push(text) };
    await run(input, {}, { reporter, stop: stop.signal, ...options });
    return texts.join('\n');
  };
  const loadPolicy = () => Promise.resolve(new FakePolicy({ script: () => 'a' }));
  const environment = join(import.meta.dirname, '../report/vowels-module.ts');
  const named = await closing({ model: 'some', environment }, { policy: undefined, loadPolicy });
  assert.match(named, new RegExp(`\ngo on {4}grpo-native train --resume ${join(folder, 'run')}$`));
  assert.not.match(await closing({ output: join(folder, 'other') }, {}), /go on/);
});

test('an abort in the middle of a step drops that step whole', async () => {
  const controller = new AbortController();
  const { result, policy } = await run(
    { steps: 50, evalEvery: 0 },
    { onUpdate: () => controller.abort() },
    { signal: controller.signal },
  );
  assert.is(result.steps, 0);
  assert.is(policy.updates.length, 0);
  assert.not(existsSync(join(folder, 'run', 'metrics.jsonl')));
  assert.ok(existsSync(join(folder, 'run', 'adapter', 'adapter_config.json')));
});

test('a run ends with its page and picture, also when it was stopped, and names its folder before the first step', async () => {
  const stop = new AbortController();
  const warnings: string[] = [];
  const reporter: Reporter = {
    ...quietReporter,
    warning: (text) => warnings.push(text),
    step: (metrics) => (metrics.step === 2 ? stop.abort() : undefined),
  };
  let named = '';
  const onFolder = (path: string) => {
    named = path;
    assert.is(existsSync(join(path, 'metrics.jsonl')), false);
  };
  const { result } = await run({ evalEvery: 0 }, {}, { stop: stop.signal, reporter, onFolder });
  assert.equal([result.interrupted, named], [true, result.run]);
  assert.equal(warnings, []);
  const page = readFileSync(join(result.run, 'report.html'), 'utf8');
  assert.match(page, /"stepsDone":2/);
  assert.match(page, /"pieces":\[/);
  assert.ok(existsSync(join(result.run, 'report.png')));
  const verdicts = lines<Trajectory & { passed: boolean | null }>('trajectories.jsonl');
  assert.equal(
    verdicts.map(({ passed }) => passed),
    verdicts.map(({ turns }) => (/<submit>/.test(turns.at(-1)!.text) ? true : null)),
  );
});

test('a report that cannot be drawn is a warning, and the run is whole', async () => {
  const warnings: string[] = [];
  const reporter: Reporter = { ...quietReporter, warning: (text) => warnings.push(text) };
  const onFolder = (path: string) => void mkdirSync(join(path, 'report.html', 'in-the-way'), { recursive: true });
  const { result } = await run({ evalEvery: 0 }, {}, { reporter, onFolder });
  assert.is(result.steps, 3);
  assert.ok(existsSync(join(result.run, 'adapter')));
  assert.is(warnings.length, 1);
  assert.match(
    warnings[0]!,
    /report\.html and report\.png could not be drawn: .*; grpo-native report .*run tries again/,
  );
});

test('maxHours ends the run after the step that passes it, with its evaluation', async () => {
  const { result } = await run({ steps: 50, maxHours: 1e-9 });
  assert.is(result.steps, 1);
  assert.not(result.interrupted && result.evaluations.length < 2);
  assert.is(result.evaluations.at(-1)!.step, 1);
});

test('an existing output is refused, naming --resume, before anything is loaded', async () => {
  await run({ steps: 0 });
  const policy = new FakePolicy({ script: halfRight });
  try {
    await train({ environment: wordEnvironment(), output: join(folder, 'run') }, { policy, reporter: quietReporter });
    assert.unreachable();
  } catch (error) {
    assert.is((error as { code?: string }).code, 'RUN_EXISTS');
    assert.match((error as Error).message, /--resume/);
  }
  assert.is(policy.opened, 0);
});

test('config.json names the environment and holds the defaults', async () => {
  await run({ steps: 0 });
  const { config, tasks, versions } = JSON.parse(readFileSync(join(folder, 'run', 'config.json'), 'utf8')) as {
    config: Record<string, unknown>;
    tasks: Record<string, unknown>;
    versions: Record<string, string>;
  };
  assert.is(config['environment'], 'words');
  assert.is(config['maxNewTokens'], 1024);
  assert.is(config['maxTurns'], 3);
  assert.equal(config['loss'], {
    policy: 'clip',
    ratio: 'token',
    aggregation: 'token-mean',
    clipLow: 0.2,
    clipHigh: 0.28,
    klCoefficient: 0,
    entropyCoefficient: 0,
  });
  assert.equal(config['lora'], { rank: 16, alpha: 32, dropout: 0, targetModules: ['q_proj', 'v_proj'] });
  assert.equal(tasks, { training: 5, evaluation: 1, split: 'held-out' });
  assert.is(versions['node'], process.versions.node);
});

test('tools and rewards can be chosen by name or given, and an unknown name is an error', async () => {
  const own = textTool('own', () => 'mine');
  const script: FakeOptions['script'] = (context) => (context.includes('mine') ? 'done' : '<own>x</own>');
  await run({ steps: 1, tools: [own, 'submit'] }, { script });
  assert.is(lines<StepMetrics>('metrics.jsonl')[0]!.tool_own_rate, 1);
  rmSync(join(folder, 'run'), { recursive: true });
  try {
    await run({ steps: 1, rewards: ['rihgt'] });
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /reward rihgt is unknown; the environment has: right/);
  }
});

test.run();
