import type { SandboxLike } from '../../sandbox/types.js';
import { grade, infraReason, testFraction, type CodeOutcome } from '../../tools/submit.js';
import { lastCodeBlock } from '../formats/tags.js';
import type { EpisodeState } from '../types.js';

/** The last code of an episode: in a JSON or XML format the last program that was run, else the last code block. */
function lastCode(episode: EpisodeState, startsInThinking: boolean, inTags: boolean): string | undefined {
  const programs = episode.turns.flatMap(({ calls }) => calls).filter(({ tool }) => tool === 'execute');
  const called = inTags ? undefined : programs.at(-1)?.args['code'];
  if (typeof called === 'string') return called;
  return lastCodeBlock(
    episode.turns.map(({ text }) => text),
    startsInThinking,
  );
}

/** An evaluation, and a mode without submissions, judges the last code that was written. */
export async function gradeUnsubmitted(
  episode: EpisodeState,
  sandbox: SandboxLike,
  settings: { isSilent: boolean; startsInThinking: boolean; inTags: boolean },
): Promise<void> {
  if (Number(episode.state['submissions'] ?? 0) > 0) return;
  const nothing: CodeOutcome = { passed: false, submitted: false, graded: false, status: 'no-code', fraction: 0 };
  episode.outcome = nothing;
  if (episode.purpose !== 'eval' && !settings.isSilent) return;
  const code = lastCode(episode, settings.startsInThinking, settings.inTags);
  if (code === undefined) return;
  const result = await grade(sandbox, episode.task, code);
  episode.outcome = {
    passed: result.status === 'pass',
    submitted: false,
    graded: true,
    status: result.status,
    fraction: testFraction(result),
    ...(result.status === 'infra' ? { invalid: infraReason(result) } : {}),
  } satisfies CodeOutcome;
}
