import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cacheFolder } from '../../lib/libtorch/cache-folder.js';
import { checkEpisodes } from '../environments/episode-checks.js';
import { skipAloud } from '../harness.js';
import { checkAppending, checkEncodings, checkNoAddedToken, checkRenderings, load } from '../tokenizer/checks.js';

const folder = join(cacheFolder(), 'models', 'SmolLM2-135M-Instruct');
if (!existsSync(join(folder, 'tokenizer.json'))) skipAloud(`SmolLM2-135M-Instruct is not in ${folder}`);

test('SmolLM2: ids are those of the reference library', async () => {
  checkEncodings(await load(folder), 'smollm2');
});

test('SmolLM2: episodes of the code agent read as the whole conversation', async () => {
  await checkEpisodes(await load(folder), 'auto', 'tags', 12);
  await checkEpisodes(await load(folder), 'hermes', 'hermes', 8);
});

test('SmolLM2: rendered texts are those of transformers, and ids decode to them', async () => {
  checkRenderings(await load(folder), 'smollm2');
});

test('SmolLM2: no text gives the id of an added token, though all lie in its vocabulary', async () => {
  checkNoAddedToken(await load(folder), folder);
});

test('SmolLM2: appended turns read as the whole conversation rendered', async () => {
  checkAppending(await load(folder), 'user', 60);
});

test('SmolLM2: turn end, stop ids and the tool role', async () => {
  const tokenizer = await load(folder);
  assert.is(tokenizer.turnEndId, 2);
  assert.equal(tokenizer.stopIds, [2]);
  assert.is(tokenizer.handlesToolRole, false);
});

test.run();
