import type { Environment, EpisodeState, RewardScore, Task } from '../../lib/environments/types.js';

/** What a scripted episode came to. */
export interface Played {
  episode: EpisodeState;
  finish: 'done' | 'max-turns' | 'invalid';
  score: RewardScore;
  figures: Record<string, number>;
  /** Contents of all messages that are not the model's. */
  seen: string[];
}

/** Plays given replies in an environment, as the rollout would with a model. */
export async function play(
  environment: Environment,
  replies: string[],
  purpose: 'train' | 'eval' = 'train',
  task?: Task,
): Promise<Played> {
  const played = task ?? environment.tasks[0]!;
  const episode: EpisodeState = {
    task: played,
    turns: [],
    messages: environment.prompt(played),
    outcome: undefined,
    state: {},
    purpose,
  };
  const { signal } = new AbortController();
  let finish: Played['finish'] = 'max-turns';
  let invalid: string | undefined;
  turns: for (const text of replies.slice(0, environment.maxTurns)) {
    const { calls, malformed } = environment.format.parse(text);
    const turn = {
      start: 0,
      tokens: 1,
      text,
      finishReason: 'stop' as const,
      calls,
      malformed,
      observations: [] as string[],
      generateMs: 0,
      toolMs: 0,
    };
    episode.turns.push(turn);
    episode.messages.push({ role: 'assistant', content: text });
    const results = [];
    for (const call of calls) {
      const tool = environment.tools.find(({ name }) => name === call.tool)!;
      const raw = await tool.run(call.args, { task: played, episode, signal });
      const output = typeof raw === 'string' ? { text: raw } : raw;
      invalid = output.invalid;
      if (output.outcome !== undefined) episode.outcome = output.outcome;
      results.push({ call, output });
      if (output.done === true || invalid !== undefined) {
        finish = invalid === undefined ? 'done' : 'invalid';
        break turns;
      }
    }
    if (calls.length + malformed.length > 0) {
      episode.messages.push(...environment.format.observe(results, malformed));
    } else {
      const reply = await environment.reply!(turn, episode);
      if (!Array.isArray(reply)) {
        finish = 'done';
        break;
      }
      episode.messages.push(...reply);
    }
  }
  await environment.finish?.(episode);
  const { turns, outcome, messages } = episode;
  const score =
    invalid === undefined
      ? await environment.rewards[0]!.score({ task: played, turns, outcome, messages, finish, signal })
      : { invalid };
  const seen = messages.filter(({ role }) => role !== 'assistant').map(({ content }) => content);
  return { episode, finish, score, figures: environment.figures?.(episode) ?? {}, seen };
}
