import { join } from 'node:path';
import { randomNumbers } from '../../lib/algorithms/index.js';
import type { EpisodeTurn, Message, Task } from '../../lib/environments/types.js';
import type { Episode } from '../../lib/rollout/index.js';
import {
  evaluationRecord,
  JsonLines,
  stepMetrics,
  trajectory,
  TrajectoryLog,
  writeConfigFile,
} from '../../lib/run/index.js';
import type { EvaluationMode } from '../../lib/run/index.js';
import { Tokenizer } from '../../lib/tokenizer/index.js';

export const TOKENIZER_FOLDER = join(import.meta.dirname, '..', 'fixtures', 'tokenizer', 'bytes');

export interface SyntheticRun {
  steps: number;
  prompts?: number;
  samples?: number;
  tasks?: number;
  /** Folder of the tokenizer. */
  model?: string;
  /** Nothing can pass or fail. */
  withoutVerdict?: boolean;
  evaluateEvery?: number;
  modes?: EvaluationMode[];
  /** Stands in the model's text, in observations, in the prompt and in the task's name. */
  hostile?: string;
  /** Added to every observation. */
  padding?: string;
  /** Uncompressed bytes of a part of the trajectories. */
  partBytes?: number;
}

const SYSTEM =
  'You are a Python expert with three tools. Search: <search>QUERY</search>. Execute: a ```python fence. Submit: a ```submit fence.';
const LIBRARIES = ['tablet', 'ledger', 'quill', 'lattice', 'beacon'];

const taskOf = (index: number, hostile = ''): Task => {
  const needsSearch = index % 2 === 0;
  const library = LIBRARIES[index % LIBRARIES.length];
  const prompt = needsSearch
    ? `Use ${library}.measure to give the size of a list. ${hostile}`
    : `Write a function that adds ${index} to its argument – naïvely. ${hostile}`;
  return { id: `${needsSearch ? 'library' : 'plain'}-${index}${hostile}`, prompt, needsSearch };
};

type Random = () => number;

/** One episode of a policy that has learned `skill` (0 to 1) of when to search. */
function playEpisode(
  task: Task,
  skill: number,
  mode: EvaluationMode,
  random: Random,
  run: SyntheticRun,
  tokenizer: Tokenizer,
): Episode {
  const needs = task['needsSearch'] === true;
  const hostile = run.hostile ?? '';
  const searches = mode === 'multi-tool' && random() < (needs ? 0.25 + 0.7 * skill : 0.55 - 0.5 * skill);
  const executes = mode !== 'no-tools' && random() < 0.3 + 0.2 * skill;
  const submits = random() < 0.7 + 0.3 * skill;
  const passed = submits && random() < (needs && !searches ? 0.08 : 0.45 + 0.45 * skill);
  const messages: Message[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: task.prompt },
  ];
  const parts: { text: string; calls: EpisodeTurn['calls']; observation: string }[] = [];
  const name = task.id.split('-')[0] ?? 'task';
  if (searches) {
    parts.push({
      text: `Let me look that up first. 🔎\n<search>${name} measure${hostile}</search>`,
      calls: [{ tool: 'search', args: { query: `${name} measure${hostile}` } }],
      observation: `<doc_result>\n${name}.measure(items): the number of items, as an int.${hostile}${run.padding ?? ''}\n</doc_result>`,
    });
  }
  if (executes) {
    parts.push({
      text: `Trying it before I submit:\n\`\`\`python\nprint(solve([1, 2, 3]))\n\`\`\``,
      calls: [{ tool: 'execute', args: { code: 'print(solve([1, 2, 3]))' } }],
      observation: `<exec_result>\n${passed ? '3' : "ERROR: AttributeError: 'list' object has no attribute 'measure'"}\n</exec_result>`,
    });
  }
  parts.push({
    text: submits
      ? `Here it is — “done”.\n\`\`\`submit\ndef solve(items):\n    return ${passed ? 'len(items)' : 'items.size'}\n\`\`\``
      : `The answer is ${hostile}not clear to me …`,
    calls: submits
      ? [{ tool: 'submit', args: { code: `def solve(items):\n    return ${passed ? 'len(items)' : 'items.size'}` } }]
      : [],
    observation: submits
      ? `<test_result>\n${passed ? 'PASS: 3 tests' : 'FAIL: test_empty: AttributeError'}\n</test_result>`
      : '',
  });
  const ids: number[] = [];
  const mask: number[] = [];
  const give = (text: string, sampled: boolean): number => {
    const added = tokenizer.encode(text);
    ids.push(...added);
    mask.push(...Array.from(added, () => (sampled ? 1 : 0)));
    return added.length;
  };
  give(
    `<|im_start|>system\n${SYSTEM}<|im_end|>\n<|im_start|>user\n${task.prompt}<|im_end|>\n<|im_start|>assistant\n`,
    false,
  );
  const turns = parts.map(({ text, calls, observation }): EpisodeTurn => {
    const start = ids.length;
    const tokens = give(text, true);
    messages.push({ role: 'assistant', content: text });
    if (observation !== '')
      give(`<|im_end|>\n<|im_start|>user\n${observation}<|im_end|>\n<|im_start|>assistant\n`, false);
    return {
      start,
      tokens,
      text,
      finishReason: 'stop',
      calls,
      malformed: [],
      observations: observation === '' ? [] : [observation],
      generateMs: 20 * tokens,
      toolMs: calls.length > 0 ? 180 * random() : 0,
    };
  });
  const samplerLogprobs = Float32Array.from({ length: ids.length - 1 }, (_, i) =>
    mask[i + 1] === 1 ? Math.log(1 - 0.9 * (1 - 0.6 * skill) * random() ** 2) : NaN,
  );
  const value = (passed ? 1 : 0.05 * (searches ? 1 : 0)) - (submits ? 0 : 0.1) - (searches ? 0.1 : 0);
  return {
    state: { task, turns, messages, outcome: undefined, state: {}, purpose: 'train' },
    finish: submits ? 'done' : 'no-call',
    invalid: random() < 0.01 ? 'the sandbox broke' : undefined,
    row: { ids: Int32Array.from(ids), mask: Uint8Array.from(mask), samplerLogprobs },
    reward: {
      value,
      parts: { passed: passed ? 1 : 0, search: searches ? -0.1 : 0, 'never submitted': submits ? 0 : -0.1 },
    },
    figures: run.withoutVerdict ? {} : { pass: passed ? 1 : 0 },
    counters: {
      calls: parts.length,
      callErrors: 0,
      malformed: 0,
      cutObservations: 0,
      truncatedTurns: random() < 0.15 * (1 - skill) ? 1 : 0,
    },
    tokens: mask.reduce((sum, entry) => sum + entry, 0),
    truncatedMass: 0,
    weightsVersion: 1,
    seconds: 3,
  };
}

/** Writes a run's folder with the records that the real writers make of made-up episodes. */
export async function writeSyntheticRun(folder: string, run: SyntheticRun): Promise<string> {
  const { steps, prompts = 4, samples = 8, tasks = 12, model = TOKENIZER_FOLDER, evaluateEvery = 10 } = run;
  const { modes = ['no-tools', 'code-only', 'multi-tool'] } = run;
  const random = randomNumbers(steps + 7);
  const tokenizer = await Tokenizer.load(model);
  const all = Array.from({ length: tasks }, (_, index) => taskOf(index, run.hostile));
  const config = { model, environment: 'code-agent', steps, promptsPerStep: prompts, groupSize: samples };
  await writeConfigFile(folder, { config, workingFolder: folder });
  const metrics = new JsonLines(join(folder, 'metrics.jsonl'));
  const evaluations = new JsonLines(join(folder, 'evaluations.jsonl'));
  const trajectories = new TrajectoryLog(folder, run.partBytes);
  const tools = ['search', 'execute', 'submit'];
  const skillAt = (step: number) => 1 / (1 + Math.exp(-8 * (step / Math.max(steps, 1) - 0.45)));
  const evaluate = async (step: number, mode: EvaluationMode) => {
    const groups = all.map((task) =>
      Array.from({ length: 6 }, () => playEpisode(task, step === 0 ? 0 : skillAt(step), mode, random, run, tokenizer)),
    );
    await evaluations.append(
      evaluationRecord({
        step,
        split: 'held-out',
        mode,
        temperature: 1,
        groups,
        samples: 6,
        k: [1],
        testFeedback: false,
        tools,
        seed: 1,
        seconds: 5,
      }),
    );
  };
  if (evaluateEvery > 0) for (const mode of modes) await evaluate(0, mode);
  for (let step = 1; step <= steps; step++) {
    const skill = skillAt(step);
    const groups = Array.from({ length: prompts }, (_, group) =>
      Array.from({ length: samples }, () =>
        playEpisode(all[(step * prompts + group) % tasks] as Task, skill, 'multi-tool', random, run, tokenizer),
      ),
    );
    const line = stepMetrics({
      step,
      seconds: 11 + 4 * random(),
      rolloutSeconds: 7 + 3 * random(),
      updateSeconds: 4 + random(),
      groups,
      constantGroups: Math.floor(3 * random() * skill),
      tools,
      learningRate: 1e-5,
      stats: {
        loss: 0.02 * (random() - 0.5),
        kl: 0.001 + 0.09 * skill + 0.01 * random(),
        entropy: 0.9 - 0.55 * skill + 0.05 * random(),
        gradNorm: 0.4 + 0.3 * random(),
        clipFraction: 0.02 * random(),
        ratioMax: 1.4,
        tokens: 4000,
        rows: prompts * samples,
        skipped: null,
        samplerTrainerGap: 2e-6 + 1e-6 * random(),
        seconds: 4,
        peakBytes: 1e9,
      },
      weightsVersion: step,
      skippedSteps: 0,
    });
    await metrics.append(line);
    const deviation = line.reward_std ?? 1;
    await trajectories.append(
      groups.flatMap((group, index) =>
        group.map((episode, sample) =>
          trajectory(episode, {
            step,
            group: index,
            sample,
            advantage: ((episode.reward?.value ?? 0) - (line.reward_mean ?? 0)) / (deviation + 1e-4),
          }),
        ),
      ),
    );
    if (evaluateEvery > 0 && (step % evaluateEvery === 0 || step === steps)) await evaluate(step, 'multi-tool');
  }
  return folder;
}
