import type { GroupFilter, GroupView, RunData } from '../types.js';
import { choice, h } from './dom.js';
import { groupElement } from './episode.js';
import type { Coloring, RowView } from './episode.js';
import type { GroupQuery, Source } from './source.js';

const FILTERS: [GroupFilter, string][] = [
  ['first', 'first'],
  ['last', 'last'],
  ['best', 'best'],
  ['worst', 'worst'],
  ['changed', 'changed most'],
  ['all', 'all'],
];

const LEGENDS: Record<Coloring, string> = {
  mask: 'Coloured: sampled by the policy and trained on (mask 1). Grey: prompt and observations (mask 0).',
  advantage: 'Green: made more likely by the update. Red: less likely. Stronger is a larger advantage.',
  logprob: 'The stronger, the less likely the token was when it was sampled.',
};

const visible = (text: string) => JSON.stringify(text).slice(1, -1) || '(part of a character)';

/** The episodes of one group at a time. */
export class Viewer {
  readonly element: HTMLElement;
  readonly #source: Source;
  readonly #body = h('div', { class: 'group-body' });
  readonly #place = h('span', { class: 'place', 'aria-live': 'polite' });
  readonly #restriction = h('span', { class: 'restriction' });
  readonly #legend = h('p', { class: 'legend' });
  readonly #note = h('p', { class: 'note' });
  readonly #token = h('p', { class: 'token-detail', 'aria-live': 'polite' });
  readonly #step = h('input', { type: 'number', min: 1, placeholder: 'step', 'aria-label': 'only this step' });
  #query: GroupQuery = { filter: 'last' };
  #index = 0;
  #view: RowView = 'turns';
  #group: GroupView | undefined;
  #asked = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#step.addEventListener('change', () => {
      const step = Number(this.#step.value);
      void this.#ask({ ...this.#query, step: this.#step.value === '' || !Number.isFinite(step) ? undefined : step });
    });
    const move = (by: number) => () => void this.#show(this.#index + by);
    this.element = h(
      'section',
      { id: 'episodes', 'data-coloring': 'mask' },
      h('h2', {}, 'Episodes'),
      this.#note,
      h(
        'div',
        { class: 'controls' },
        choice('groups', FILTERS, this.#query.filter, (filter) => void this.#ask({ ...this.#query, filter })),
        h(
          'div',
          { class: 'pager' },
          h('button', { type: 'button', class: 'previous', 'aria-label': 'previous group', click: move(-1) }, '‹'),
          this.#place,
          h('button', { type: 'button', class: 'next', 'aria-label': 'next group', click: move(1) }, '›'),
        ),
        this.#step,
        this.#restriction,
      ),
      h(
        'div',
        { class: 'controls' },
        choice<Coloring>(
          'colouring',
          [
            ['mask', 'mask'],
            ['advantage', 'advantage'],
            ['logprob', 'log-prob'],
          ],
          'mask',
          (coloring) => this.#color(coloring),
        ),
        choice<RowView>(
          'form',
          [
            ['turns', 'turns'],
            ['row', 'whole row'],
          ],
          'turns',
          (view) => {
            this.#view = view;
            this.#draw();
          },
        ),
      ),
      this.#legend,
      this.#body,
      this.#token,
    );
    this.#color('mask');
    for (const event of ['pointerover', 'click']) this.#body.addEventListener(event, (found) => this.#tell(found));
  }

  /** Says what can be shown; shows a first group where none is shown yet. */
  update(data: RunData): void {
    const shown = this.#source.shown(data);
    const left = data.episodes.total - shown;
    this.#note.textContent =
      data.episodes.total === 0
        ? 'No episode is logged yet.'
        : left > 0
          ? `${shown} of ${data.episodes.total} episodes are in this page; ${left} are left out. "grpo-native report RUN --serve" shows all.`
          : `All ${data.episodes.total} episodes.`;
    if (this.#group === undefined && data.episodes.total > 0) void this.#show(0);
  }

  /** Shows the groups of one task. */
  showTask(task: string): void {
    void this.#ask({ ...this.#query, filter: 'all', task });
    for (const button of this.element.querySelectorAll('.choice[aria-label=groups] button')) {
      button.setAttribute('aria-pressed', String((button as HTMLElement).dataset['value'] === 'all'));
    }
    this.element.scrollIntoView({ behavior: 'smooth' });
  }

  async #ask(query: GroupQuery): Promise<void> {
    this.#query = query;
    const clear = () => void this.#ask({ ...this.#query, task: undefined });
    this.#restriction.replaceChildren(
      ...(query.task === undefined
        ? []
        : [`task ${query.task} `, h('button', { type: 'button', click: clear }, 'all tasks')]),
    );
    await this.#show(0);
  }

  async #show(index: number): Promise<void> {
    const asked = ++this.#asked;
    try {
      const { total, groups } = await this.#source.list(this.#query, Math.max(0, index), 1);
      const summary = groups[0];
      if (asked !== this.#asked || (summary === undefined && index > 0)) return;
      const group = summary && (await this.#source.load(summary));
      if (asked !== this.#asked) return;
      this.#index = Math.max(0, index);
      this.#group = group;
      this.#place.textContent = total === 0 ? 'none' : `group ${this.#index + 1} of ${total}`;
      this.#draw();
    } catch (error) {
      this.#body.replaceChildren(h('p', { class: 'missing' }, `cannot be shown: ${(error as Error).message}`));
    }
  }

  #draw(): void {
    const missing =
      this.#query.filter === 'changed' ? 'no task was sampled twice with another reward' : 'no group is like that';
    this.#body.replaceChildren(
      this.#group ? groupElement(this.#group, this.#view) : h('p', { class: 'missing' }, missing),
    );
    this.#token.textContent = '';
  }

  #color(coloring: Coloring): void {
    this.element.dataset['coloring'] = coloring;
    this.#legend.textContent = LEGENDS[coloring];
  }

  #tell(event: Event): void {
    const token = (event.target as Element).closest<HTMLElement>('.t');
    if (token === null) return;
    const logprob = Number(token.dataset['logprob'] ?? NaN);
    const chance = Number.isNaN(logprob)
      ? 'no log-prob'
      : `probability ${(100 * Math.exp(logprob)).toPrecision(3)} %, log-prob ${logprob} nats`;
    this.#token.textContent = `“${visible(token.textContent ?? '')}”  ${chance}`;
  }
}
