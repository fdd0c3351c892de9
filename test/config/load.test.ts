import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfigFile } from '../../lib/config/index.js';

let folder = '';
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'grpo-config-'));
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const fails = async (path: string, pattern: RegExp) => {
  const error = (await loadConfigFile(path).catch((caught: unknown) => caught)) as { code?: string; message: string };
  assert.is(error.code, 'INVALID_CONFIG');
  assert.match(error.message, pattern);
};

test('JSON, YAML and modules give the same configuration', async () => {
  const expected = { steps: 3, loss: { klCoefficient: 0.1 } };
  assert.equal(await loadConfigFile(file('a.json', JSON.stringify(expected))), expected);
  assert.equal(await loadConfigFile(file('a.yaml', 'steps: 3\nloss:\n  klCoefficient: 0.1\n')), expected);
  assert.equal(await loadConfigFile(file('a.mjs', `export default ${JSON.stringify(expected)};`)), expected);
  assert.equal(await loadConfigFile(file('empty.yaml', '# nothing\n')), {});
});

test('a missing, broken or foreign file is one clear error', async () => {
  await fails(join(folder, 'none.json'), /none\.json cannot be read/);
  await fails(file('cut.json', '{"steps": '), /cut\.json cannot be parsed/);
  await fails(file('list.json', '[1]'), /list\.json must hold one object/);
  await fails(file('a.toml', 'steps = 3'), /must end in \.json, \.yaml/);
  await fails(file('b.mjs', 'export const steps = 3;'), /has no default export/);
});

test.run();
