import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readHubSettings } from '../../lib/model/hub-settings.js';
import { readModelFolder } from '../../lib/model/folder.js';
import { resolveModelFolder, type SourceOptions } from '../../lib/model/source.js';
import { fixturePath, rejects, temporaryFolder } from './fixture-folder.js';
import { startHub, type HubRepository, type HubServer } from './hub-server.js';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const fixture = (name: string) => readFileSync(join(fixturePath('qwen2-tiny'), name));
const REPOSITORY: HubRepository = {
  id: 'org/tiny',
  commit: COMMIT,
  licence: 'apache-2.0',
  files: {
    'config.json': { content: fixture('config.json') },
    'generation_config.json': { content: fixture('generation_config.json') },
    'chat_template.jinja': { content: Buffer.from('{{ messages }}') },
    'model.safetensors': { content: fixture('model.safetensors'), lfs: true },
    'consolidated.safetensors': { content: Buffer.from('other layout'), lfs: true },
    'pytorch_model.bin': { content: Buffer.from('pickle'), lfs: true },
    'README.md': { content: Buffer.from('# tiny') },
    LICENSE: { content: Buffer.from('licence text') },
  },
};
const VARIABLES = ['HF_HOME', 'HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'HF_HUB_OFFLINE', 'HF_TOKEN', 'HF_ENDPOINT'];

/** Runs with a hub, an empty cache and no Hugging Face variable of the machine; all of it is undone after. */
async function withHub(
  run: (hub: HubServer, fetchModel: (id: string, options?: SourceOptions) => Promise<string>) => Promise<void>,
  repository: Partial<HubRepository> = {},
): Promise<void> {
  const before = { ...process.env };
  for (const name of [...VARIABLES, 'HUGGING_FACE_HUB_TOKEN', 'HF_TOKEN_PATH']) delete process.env[name];
  process.env.HF_HOME = temporaryFolder();
  const hub = await startHub({ ...REPOSITORY, ...repository });
  const fetchModel = (id: string, options: SourceOptions = {}) =>
    resolveModelFolder(id, { hubUrl: hub.url, notice: () => undefined, ...options });
  try {
    await run(hub, fetchModel);
  } finally {
    await hub.close();
    process.env = before;
  }
}

test('a folder is used as it is', async () => {
  assert.is(await resolveModelFolder(fixturePath('llama-tiny')), fixturePath('llama-tiny'));
  const tokenizerOnly = temporaryFolder();
  writeFileSync(join(tokenizerOnly, 'tokenizer.json'), '{}');
  assert.is(await resolveModelFolder(tokenizerOnly), tokenizerOnly);
});

test('what is no model folder and no hub id is refused without asking the hub', async () => {
  const empty = temporaryFolder();
  await rejects(resolveModelFolder(empty), 'INVALID_MODEL', /has neither config\.json nor tokenizer\.json/);
  const file = join(empty, 'model.gguf');
  writeFileSync(file, '');
  await rejects(resolveModelFolder(file), 'INVALID_MODEL', /model\.gguf is a file; name the folder/);
  for (const name of ['./nowhere', '/no/such/folder', 'models/a/b', 'gpt2', '../org/name']) {
    await rejects(resolveModelFolder(name), 'INVALID_MODEL', /neither an existing folder nor a hub id of the form/);
  }
  await rejects(resolveModelFolder(''), 'INVALID_ARGUMENT', /must be given/);
});

test('a hub id is fetched into the cache, needed files only, and read as a model', () =>
  withHub(async (hub, fetchModel) => {
    const lines: string[] = [];
    const steps: [number, number][] = [];
    const folder = await fetchModel('org/tiny', {
      notice: (line) => lines.push(line),
      progress: (...step) => steps.push(step),
    });
    assert.is(folder, join(process.env.HF_HOME!, 'hub/models--org--tiny/snapshots', COMMIT));
    const expected = ['LICENSE', 'chat_template.jinja', 'config.json', 'generation_config.json', 'model.safetensors'];
    assert.equal(readdirSync(folder).sort(), expected.sort());
    assert.ok(readFileSync(join(folder, 'model.safetensors')).equals(fixture('model.safetensors')));
    assert.match(realpathSync(join(folder, 'config.json')), /blobs\/[0-9a-f]{40}$/);
    assert.is((await readModelFolder(folder)).parameters, 107776);
    assert.match(lines.join(), /fetching org\/tiny \(0 MB, licence: apache-2\.0\)/);
    assert.is(steps.at(-1)![0], steps.at(-1)![1]);
    assert.is(readFileSync(join(folder, '../../refs/main'), 'utf8'), COMMIT);
    assert.not.ok(existsSync(join(folder, '../../.grpo-native.lock')));

    hub.requests.length = 0;
    assert.is(await fetchModel('org/tiny'), folder);
    assert.is(hub.requests.filter((path) => path.includes('/resolve/')).length, 0);
    hub.requests.length = 0;
    assert.is(await fetchModel('org/tiny', { revision: COMMIT }), folder);
    assert.equal(hub.requests, []);
  }));

test('a download that was cut goes on where it stopped', () =>
  withHub(async (hub, fetchModel) => {
    hub.cutAfter = 300_000;
    const folder = await fetchModel('org/tiny');
    assert.ok(readFileSync(join(folder, 'model.safetensors')).equals(fixture('model.safetensors')));
    const ranges = hub.requests.filter((path) => path.includes('model.safetensors'));
    assert.is(ranges.length, 2);
    const begin = Number(/ bytes=(\d+)-/.exec(ranges[1]!)![1]);
    assert.ok(begin > 0 && begin <= 300_000, ranges[1]);
  }));

test('a file that arrives damaged is removed and reported', () =>
  withHub(async (hub, fetchModel) => {
    hub.corrupt = true;
    await rejects(fetchModel('org/tiny'), 'DOWNLOAD_FAILED', /arrived damaged and was removed; run again/);
    const blobs = join(process.env.HF_HOME!, 'hub/models--org--tiny/blobs');
    assert.equal(readdirSync(blobs), []);
    hub.corrupt = false;
    assert.is((await readModelFolder(await fetchModel('org/tiny'))).parameters, 107776);
  }));

test('a tokenizer is fetched without the weights', () =>
  withHub(async (hub, fetchModel) => {
    const folder = await fetchModel('org/tiny', { weights: false });
    assert.not.ok(readdirSync(folder).includes('model.safetensors'));
    assert.ok((await fetchModel('org/tiny')) === folder && readdirSync(folder).includes('model.safetensors'));
    assert.is(hub.requests.filter((path) => path.includes('model.safetensors')).length, 1);
  }));

test('unknown ids, unknown revisions and refusals are told apart', () =>
  withHub(async (hub, fetchModel) => {
    await rejects(fetchModel('org/other'), 'DOWNLOAD_FAILED', /org\/other \(revision main\) does not exist on http/);
    const other = fetchModel('org/tiny', { revision: 'v2' });
    await rejects(other, 'DOWNLOAD_FAILED', /org\/tiny \(revision v2\) does not exist/);
    await rejects(fetchModel('org/tiny', { revision: '../x' }), 'INVALID_ARGUMENT', /revision "\.\.\/x" is not valid/);
    hub.failWith = 503;
    await rejects(fetchModel('org/tiny'), 'DOWNLOAD_FAILED', /answered with status 503 for org\/tiny/);
  }));

test('a gated model wants a token, which goes to the hub only from HF_TOKEN or the saved file', () =>
  withHub(
    async (_hub, fetchModel) => {
      const refused = /org\/tiny does not exist on http.*or it is private or gated: set HF_TOKEN/;
      await rejects(fetchModel('org/tiny'), 'DOWNLOAD_FAILED', refused);
      process.env.HF_TOKEN = 'wrong';
      await rejects(fetchModel('org/tiny'), 'DOWNLOAD_FAILED', /the token that is set has no access/);
      process.env.HF_TOKEN = 'right';
      assert.ok(existsSync(await fetchModel('org/tiny')));
      delete process.env.HF_TOKEN;
      writeFileSync(join(process.env.HF_HOME!, 'token'), 'right\n');
      assert.ok(existsSync(await fetchModel('org/tiny', { revision: 'v1' })));
    },
    { token: 'right' },
  ));

test('offline, the cache serves, and what is not in it is refused', () =>
  withHub(async (hub, fetchModel) => {
    process.env.HF_HUB_OFFLINE = '1';
    await rejects(fetchModel('org/tiny'), 'DOWNLOAD_FAILED', /is not in .* and HF_HUB_OFFLINE is set/);
    assert.equal(hub.requests, []);
    delete process.env.HF_HUB_OFFLINE;
    const folder = await fetchModel('org/tiny');
    process.env.HF_HUB_OFFLINE = '1';
    hub.requests.length = 0;
    assert.is(await fetchModel('org/tiny'), folder);
    rmSync(join(folder, 'model.safetensors'));
    await rejects(fetchModel('org/tiny'), 'DOWNLOAD_FAILED', /HF_HUB_OFFLINE is set/);
    assert.equal(hub.requests, []);
  }));

test('without a connection an earlier snapshot serves with a notice, else the error says so', () =>
  withHub(async (hub, fetchModel) => {
    const folder = await fetchModel('org/tiny');
    await hub.close();
    const lines: string[] = [];
    assert.is(await fetchModel('org/tiny', { notice: (line) => lines.push(line) }), folder);
    assert.match(lines.join(), /cannot be reached for org\/tiny .*going on with the snapshot of an earlier download/);
    await rejects(fetchModel('org/other'), 'DOWNLOAD_FAILED', /cannot be reached for org\/other.*name a local folder/);
  }));

test('an aborted download ends with ABORTED and keeps what has arrived', () =>
  withHub(async (_hub, fetchModel) => {
    const abort = new AbortController();
    const progress = (done: number) => done > 100_000 && abort.abort();
    await rejects(fetchModel('org/tiny', { signal: abort.signal, progress }), 'ABORTED', /aborted/);
    const blobs = readdirSync(join(process.env.HF_HOME!, 'hub/models--org--tiny/blobs'));
    assert.is(blobs.filter((name) => name.endsWith('.incomplete')).length, 1);
    assert.is((await readModelFolder(await fetchModel('org/tiny'))).parameters, 107776);
  }));

test('the variables of huggingface_hub choose hub, cache and token', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'huggingface'));
  writeFileSync(join(home, 'huggingface/token'), ' saved \n');
  assert.equal(await readHubSettings(undefined, { XDG_CACHE_HOME: home }), {
    url: 'https://huggingface.co',
    cacheFolder: join(home, 'huggingface/hub'),
    offline: false,
    token: 'saved',
  });
  const set = { HF_ENDPOINT: 'https://mirror.example/', HF_HUB_CACHE: '/c', HF_HUB_OFFLINE: 'YES', HF_HOME: home };
  assert.equal(await readHubSettings(undefined, { ...set, HUGGING_FACE_HUB_TOKEN: 't' }), {
    url: 'https://mirror.example',
    cacheFolder: '/c',
    offline: true,
    token: 't',
  });
  assert.is((await readHubSettings('http://127.0.0.1:1', set)).url, 'http://127.0.0.1:1');
});

test('a model that comes with the package is found by its name', async () => {
  const folder = await resolveModelFolder('embedded:demo');
  assert.ok(existsSync(join(folder, 'model.safetensors')));
  await rejects(resolveModelFolder('embedded:other'), 'INVALID_MODEL', /there is embedded:demo/);
});

test.run();
