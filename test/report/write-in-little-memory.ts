// Writes the report of a run in a process of its own, and says what it took.
import { writeReport } from '../../lib/report/index.js';

const before = process.resourceUsage().maxRSS;
const { episodes } = await writeReport(process.argv[2] as string);
console.log(JSON.stringify({ episodes, grownKilobytes: process.resourceUsage().maxRSS - before }));
