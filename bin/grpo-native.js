#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cli = new URL('../dist/bin/cli.js', import.meta.url);
if (existsSync(cli)) {
  import(cli.href);
} else {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  process.stderr.write(
    'grpo-native: the compiled files (dist/) are missing, because npm ran with scripts switched off. ' +
      `Run: npm run prepare --prefix ${folder}\n`,
  );
  process.exitCode = 1;
}
