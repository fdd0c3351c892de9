import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { ensureLibtorch } from '../../lib/libtorch/fetch.js';
import { cpuLibraries } from '../../lib/libtorch/torch-folder.js';
import { makeWheel, programFolder, sha256, temporaryFolder, torchFiles } from './fake-wheels.js';
import { type FileServer, startFileServer } from './file-server.js';

const NAME = 'torch-2.13.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl';
const INDEX = '/whl/cpu/torch/';
let server: FileServer;
let cache: string;

test.before.each(async () => {
  server = await startFileServer();
  cache = temporaryFolder();
});
test.after.each(() => server.close());

function offer(files = torchFiles(), checksum?: string): void {
  const wheel = makeWheel(join(temporaryFolder(), NAME), files);
  server.files.set(`/whl/cpu/${NAME}`, readFileSync(wheel));
  const href = `/whl/cpu/${encodeURIComponent(NAME)}#sha256=${checksum ?? sha256(wheel)}`;
  server.files.set(INDEX, `<a href="${href}">${NAME}</a>`);
}

// A python3 that has no torch, and whose pip does what the script says; $dest is the folder it is given.
const pip = (script: string): string =>
  programFolder(
    ['sh', 'cp'],
    `case "$*" in *"pip download"*) for last; do dest=$last; done; requirement=$4; ${script};; *) echo;; esac`,
  );
const NO_PIP = "echo 'No module named pip' >&2; exit 1";

const options = (path = pip(NO_PIP)) => ({
  env: { PATH: path, GRPO_CACHE: cache },
  indexUrl: `${server.url}${INDEX}`,
  python: join(path, 'python3'),
});

async function failure(promise: Promise<unknown>): Promise<GrpoError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.instance(error, GrpoError);
  return error as GrpoError;
}

test('a wheel from the index becomes the libraries and headers that are needed, and nothing more', async () => {
  offer();
  const torch = await ensureLibtorch(options());
  assert.is(torch.folder, join(cache, 'libtorch', '2.13.0-cpu', 'torch'));
  assert.equal(readdirSync(torch.folder).sort(), ['include', 'lib', 'version.py']);
  assert.equal(readdirSync(join(torch.folder, 'lib')).sort(), ['libc10.so', 'libgomp.so.1', 'libtorch_cpu.so']);
  assert.is(readFileSync(join(torch.folder, 'lib', 'libtorch_cpu.so'), 'utf8'), 'cpu '.repeat(50_000));
  assert.is(statSync(join(torch.folder, 'lib', 'libc10.so')).mode & 0o111, 0o111);
  assert.equal(readdirSync(join(cache, 'libtorch')), ['2.13.0-cpu']);
});

test('what is there already is not fetched again, and two at once fetch once', async () => {
  offer();
  const [first, second] = await Promise.all([ensureLibtorch(options()), ensureLibtorch(options())]);
  assert.is(first.folder, second.folder);
  await ensureLibtorch(options());
  assert.is(server.requests.filter(({ path }) => path.endsWith('.whl')).length, 1);
});

test('a process that is killed leaves nothing that looks finished, and the next one goes on', async () => {
  offer();
  const whole = server.files.get(`/whl/cpu/${NAME}`) as Buffer;
  const half = whole.length >> 1;
  server.intercept = (path, response, content) => {
    if (!path.endsWith('.whl')) return false;
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, half));
    return true;
  };
  const script = `import('./lib/libtorch/fetch.ts').then((m) => m.ensureLibtorch(${JSON.stringify(options())}))`;
  const child = spawn(process.execPath, ['--import', 'tsx', '-e', script], { stdio: 'inherit' });
  const part = join(cache, 'libtorch', '2.13.0-cpu.download', `${NAME}.part`);
  for (let i = 0; i < 400 && !(existsSync(part) && statSync(part).size === half); ++i) await sleep(25);
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.is(statSync(part).size, half);
  assert.not(existsSync(join(cache, 'libtorch', '2.13.0-cpu')));

  // The dead owner's lock is taken over once it is 15 s old.
  const past = new Date(Date.now() - 16_000);
  utimesSync(join(cache, 'libtorch', '2.13.0-cpu.lock'), past, past);
  server.intercept = undefined;
  const torch = await ensureLibtorch(options());
  assert.is(server.requests.at(-1)?.range, `bytes=${half}-`);
  assert.is(torch.version, '2.13.0');
});

test('without the index, pip is asked', async () => {
  const wheel = makeWheel(join(temporaryFolder(), NAME), torchFiles());
  const news: string[] = [];
  const report = (line: string) => void news.push(line);
  const torch = await ensureLibtorch({ ...options(pip(`cp '${wheel}' "$dest"`)), report });
  assert.is(torch.version, '2.13.0');
  assert.match(news[0] ?? '', /no wheel from PyTorch's index \(.* answered 404\): asking pip/);
});

test('the wheel for CUDA 13 gets the two libraries its CPU part wants, of the version it pins', async () => {
  const torchWheel = makeWheel(join(temporaryFolder(), 'torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl'), {
    ...torchFiles('2.13.0', "'13.0'"),
    'torch/lib/libtorch_cuda.so': 'cuda',
    'torch-2.13.0.dist-info/METADATA':
      'Requires-Dist: cuda-toolkit[cublas,cudart,cupti]==13.0.2; platform_system == "Linux"\n',
  });
  const runtime = makeWheel(join(temporaryFolder(), 'nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.whl'), {
    'nvidia/cu13/lib/libcudart.so.13': 'rt',
    'nvidia/cu13/include/cuda.h': '',
  });
  const cupti = makeWheel(join(temporaryFolder(), 'nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl'), {
    'nvidia/cu13/lib/libcupti.so.13': 'cupti',
    'nvidia/cu13/lib/libcheckpoint.so': 'not wanted',
  });
  const script =
    `case "$requirement" in torch==2.13.0) cp '${torchWheel}' "$dest";; ` +
    `'cuda-toolkit[cudart,cupti]==13.0.2') cp '${runtime}' '${cupti}' "$dest";; *) exit 3;; esac`;
  const torch = await ensureLibtorch(options(pip(script)));
  assert.equal(
    cpuLibraries(torch.folder).map((path) => path.slice(path.lastIndexOf('/') + 1)),
    ['libgomp.so.1', 'libcudart.so.13', 'libcupti.so.13', 'libc10.so', 'libtorch_cpu.so'],
  );
  assert.not(existsSync(join(torch.folder, 'lib', 'libtorch_cuda.so')));
});

test('when nothing works, one error names both reasons and the way by hand', async () => {
  offer(torchFiles(), '0'.repeat(64));
  const error = await failure(ensureLibtorch(options()));
  assert.is(error.code, 'DOWNLOAD_FAILED');
  assert.match(error.message, /PyTorch's index: .*its SHA-256 must be 0000/);
  assert.match(error.message, /pip: .*apt-get install python3-pip/);
  assert.match(error.message, /set GRPO_LIBTORCH/);
  assert.not(existsSync(join(cache, 'libtorch', '2.13.0-cpu')));
});

test('a wheel of another version or a file that is none is refused', async () => {
  offer(torchFiles('2.12.0+cpu'));
  assert.match(
    (await failure(ensureLibtorch(options()))).message,
    'must hold libtorch 2.13.0 with its headers, but holds 2.12.0',
  );

  const broken = join(temporaryFolder(), NAME);
  writeFileSync(broken, 'no zip');
  server.files.clear();
  cache = temporaryFolder();
  const error = await failure(ensureLibtorch(options(pip(`cp '${broken}' "$dest"`))));
  assert.match(error.message, /torch-2\.13\.0\+cpu-.*\.whl does not unpack/);
});

test.run();
