import { valueText } from '../charts/line-chart.js';
import type { EpisodeView, GroupView, Segment, TurnView } from '../types.js';
import { h } from './dom.js';

/** How tokens are coloured. */
export type Coloring = 'mask' | 'advantage' | 'logprob';
export type RowView = 'turns' | 'row';

/** A log-prob at which a token is coloured fully, nats. */
const FULL_SURPRISE = 5;

function tokenSpans({ pieces = [], logprobs = [] }: Segment): HTMLElement[] {
  return pieces.map((text, index) => {
    const logprob = logprobs[index] ?? null;
    const surprise = logprob === null ? 0 : Math.min(1, -logprob / FULL_SURPRISE);
    const style = `--surprise:${surprise.toFixed(2)}`;
    return h('span', { class: 't', style, ...(logprob === null ? {} : { 'data-logprob': logprob }) }, text || '∅');
  });
}

const cutNote = (segment: Segment) =>
  segment.cut !== undefined &&
  h('span', { class: 'cut' }, ` … ${segment.cut} ${segment.text ? 'characters' : 'tokens'} left out`);

const segmentView = (segment: Segment): HTMLElement =>
  segment.sampled
    ? h('div', { class: 'sampled' }, ...tokenSpans(segment), cutNote(segment))
    : h('div', { class: 'given' }, segment.text, cutNote(segment));

/** Arguments on one line: a single text by itself. */
function argumentsText(args: string): string {
  try {
    const values = Object.values(JSON.parse(args) as Record<string, unknown>);
    return values.length === 1 && typeof values[0] === 'string' ? values[0].replace(/\s*\n\s*/g, ' ⏎ ') : args;
  } catch {
    // Shortened: no longer JSON.
    return args;
  }
}

const milliseconds = (value: number | undefined) => (value === undefined ? '–' : `${(value / 1000).toFixed(1)} s`);

function assistantView(turn: TurnView, number: number, row: readonly Segment[]): HTMLElement[] {
  const segment = row.find(({ sampled, start }) => sampled && start === turn.start);
  const text = segment ? segmentView(segment) : h('div', { class: 'sampled plain' }, turn.text || '(no tokens)');
  const times = `${turn.tokens ?? 0} tokens, ${milliseconds(turn.generateMs)}`;
  const head = h(
    'div',
    { class: 'turn-head' },
    h('b', {}, `turn ${number}`),
    h('span', {}, `${times}${turn.finish && turn.finish !== 'stop' ? `, ended by ${turn.finish}` : ''}`),
  );
  const calls = (turn.calls ?? []).map(({ tool, args }) =>
    h('div', { class: `call tool-${tool}` }, h('b', {}, tool), h('code', {}, argumentsText(args))),
  );
  const malformed = (turn.malformed ?? []).map((message) =>
    h('div', { class: 'call malformed' }, h('b', {}, 'not readable'), message),
  );
  const observations = (turn.observations ?? []).map((text) => h('pre', { class: 'observation' }, text));
  const took =
    (turn.calls ?? []).length > 0 &&
    h('div', { class: 'turn-head' }, h('span', {}, `tools ${milliseconds(turn.toolMs)}`));
  return [head, text, ...calls, ...malformed, ...(took ? [took] : []), ...observations];
}

/** A message of the prompt. */
export const messageView = ({ role, text }: TurnView): HTMLElement =>
  h('div', { class: 'message' }, h('b', {}, role), h('div', { class: 'given' }, text));

function turnsView(episode: EpisodeView): HTMLElement[] {
  let number = 0;
  return episode.turns.flatMap((turn) =>
    turn.role === 'assistant' ? assistantView(turn, ++number, episode.row) : [messageView(turn)],
  );
}

function rowView(episode: EpisodeView): HTMLElement[] {
  if (episode.row.length === 0) return [h('p', { class: 'missing' }, 'the texts of its tokens are not known')];
  return episode.row.map(segmentView);
}

const verdict = ({ passed, invalid }: EpisodeView): HTMLElement | false => {
  if (invalid) return h('span', { class: 'badge invalid' }, 'invalid');
  return passed !== null && h('span', { class: `badge ${passed ? 'passed' : 'failed'}` }, passed ? 'passed' : 'failed');
};

function episodeCard(episode: EpisodeView, view: RowView): HTMLElement {
  const { advantage, reward, parts, invalid, finish, sampled, tokens } = episode;
  const named = Object.entries(parts).map(([name, value]) => `${name} ${valueText(value, 'number')}`);
  const strength = Math.min(1, Math.abs(advantage) / 2);
  return h(
    'article',
    { class: `episode ${advantage < 0 ? 'negative' : 'positive'}`, style: `--advantage:${strength.toFixed(2)}` },
    h(
      'header',
      {},
      h('b', {}, `sample ${episode.sample + 1}`),
      verdict(episode),
      h('span', { class: 'reward' }, `reward ${valueText(reward, 'number')}`),
      h('span', { class: 'facts' }, `advantage ${advantage >= 0 ? '+' : ''}${valueText(advantage, 'number')}`),
      h('span', { class: 'facts' }, `${sampled} of ${tokens} tokens sampled, ended: ${finish}`),
      named.length > 0 && h('span', { class: 'facts' }, named.join(', ')),
      invalid && h('span', { class: 'facts' }, invalid),
    ),
    ...(view === 'turns' ? turnsView(episode) : rowView(episode)),
  );
}

/** The samples of a group, side by side. */
export function groupElement(group: GroupView, view: RowView): HTMLElement {
  const { summary, prompt } = group;
  const passRate = summary.passRate === null ? '' : `, pass rate ${valueText(summary.passRate, 'percent')}`;
  const invalid = summary.invalid > 0 ? `, ${summary.invalid} invalid` : '';
  return h(
    'div',
    { class: 'group' },
    h(
      'p',
      { class: 'group-head' },
      h('b', {}, `step ${summary.step}, task ${summary.task}`),
      ` ${summary.samples} samples, mean reward ${valueText(summary.rewardMean, 'number')}${passRate}${invalid}`,
    ),
    prompt.length > 0 &&
      view === 'turns' &&
      h(
        'details',
        { class: 'prompt' },
        h('summary', {}, `prompt: ${prompt.at(-1)?.text?.slice(0, 160) ?? ''}`),
        ...prompt.map(messageView),
      ),
    h('div', { class: 'samples', tabindex: 0 }, ...group.episodes.map((episode) => episodeCard(episode, view))),
  );
}
