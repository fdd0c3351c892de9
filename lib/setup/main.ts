import { setup } from './setup.js';

// The program that lib/binding.ts starts at first use.
setup({ report: (line) => process.stderr.write(`grpo-native: ${line}\n`) }).catch((error: unknown) => {
  process.stderr.write(`grpo-native: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
