import { printLine } from '../terminal/live.js';
import { setup } from './setup.js';

// The program that lib/binding.ts starts at first use.
const say = (line: string) => printLine(process.stderr, `grpo-native: ${line}`);
setup(process.env['GRPO_QUIET'] ? {} : { report: say }).catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
