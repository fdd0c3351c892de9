export { compareRuns } from './compare-runs.js';
export type { Comparison } from './compare-runs.js';
export { serveReport } from './server.js';
export type { ServedReport } from './server.js';
export { MOST_PAGE_BYTES, writeReport } from './write-report.js';
export type { ReportOptions, WrittenReport } from './write-report.js';
