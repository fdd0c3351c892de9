export { runEpisode } from './episode.js';
export { runGroup } from './group.js';
export type { GroupRequest } from './group.js';
export { runGroups } from './groups.js';
export type { GroupsRequest } from './groups.js';
export { Limit } from './limit.js';
export type { Episode, EpisodeCounters, Sampling } from './types.js';
