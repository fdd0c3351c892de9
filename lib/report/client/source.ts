import type { EmbeddedRun, GroupFilter, GroupSummary, GroupView, RunData } from '../types.js';

/** Which groups are wanted. */
export interface GroupQuery {
  filter: GroupFilter;
  task?: string;
  step?: number;
}

/** A window of the groups that match, and how many there are. */
export interface GroupWindow {
  total: number;
  groups: GroupSummary[];
}

/** Where the page's data come from: itself, or the server that gave it. */
export interface Source {
  served: boolean;
  data: () => Promise<RunData>;
  /** `count` groups from the index `from` on. */
  list: (query: GroupQuery, from: number, count: number) => Promise<GroupWindow>;
  load: (group: GroupSummary) => Promise<GroupView>;
  /** Episodes that can be shown. */
  shown: (data: RunData) => number;
}

const matches = (query: GroupQuery) => (group: GroupSummary) =>
  (query.task === undefined || group.task === query.task) && (query.step === undefined || group.step === query.step);

export function embeddedSource({ data, groups, choices }: EmbeddedRun): Source {
  const summaries = groups.map(({ summary }) => summary);
  return {
    served: false,
    data: async () => data,
    list: async (query, from, count) => {
      const found = choices[query.filter].map((index) => summaries[index] as GroupSummary).filter(matches(query));
      return { total: found.length, groups: found.slice(from, from + count) };
    },
    load: async (group) => groups[summaries.indexOf(group)] as GroupView,
    shown: () => groups.reduce((sum, { episodes }) => sum + episodes.length, 0),
  };
}

/** What the server says when it cannot answer. */
export class Refusal extends Error {}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (!response.ok) throw new Refusal(await response.text());
  return (await response.json()) as T;
}

export const servedSource = (): Source => ({
  served: true,
  data: () => get<RunData>('data'),
  list: ({ filter, task, step }, from, count) => {
    const query = new URLSearchParams({ filter, from: String(from), count: String(count) });
    if (task !== undefined) query.set('task', task);
    if (step !== undefined) query.set('step', String(step));
    return get<GroupWindow>(`groups?${query}`);
  },
  load: ({ step, group }) => get<GroupView>(`group?step=${step}&group=${group}`),
  shown: (data) => data.episodes.total,
});
