import { loadCore } from '../binding.js';

loadCore().then(
  (core) => {
    process.stdout.write(`${core.torchVersion()}\n`);
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
