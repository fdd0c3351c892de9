export { bench } from './bench.js';
export type { BenchOptions, BenchResult } from './bench.js';
export { benchText } from './text.js';
