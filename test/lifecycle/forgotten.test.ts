import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('policies that are forgotten without close() end their threads once they are collected', () => {
  const program = join(import.meta.dirname, 'forgotten-program.ts');
  const output = execFileSync(process.execPath, ['--expose-gc', '--import', 'tsx', program], { encoding: 'utf8' });
  const { before, after } = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { before: number; after: number };
  assert.ok(after <= before, `${before} threads grew to ${after}`);
});

test.run();
