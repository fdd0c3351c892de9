import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpoError } from '../../lib/errors.js';
import { download, sha256Of } from '../../lib/libtorch/download.js';
import { temporaryFolder } from './fake-wheels.js';
import { type FileServer, startFileServer } from './file-server.js';

const CONTENT = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251));
let server: FileServer;
let to: string;
let sha256: string;

test.before.each(async () => {
  server = await startFileServer();
  server.files.set('/file.whl', CONTENT);
  to = join(temporaryFolder(), 'file.whl');
  writeFileSync(`${to}.whole`, CONTENT);
  sha256 = await sha256Of(`${to}.whole`);
});
test.after.each(() => server.close());

const options = () => ({ url: `${server.url}/file.whl`, to, sha256, pauseMs: 1, retries: 2 });

async function failure(promise: Promise<void>): Promise<GrpoError> {
  try {
    await promise;
  } catch (error) {
    assert.instance(error, GrpoError);
    return error as GrpoError;
  }
  throw new Error('must fail');
}

test('a file arrives whole, with its progress, and leaves no part', async () => {
  let last: number[] = [];
  await download({ ...options(), onProgress: (done, total) => (last = [done, total]) });
  assert.ok(readFileSync(to).equals(CONTENT));
  assert.equal(last, [CONTENT.length, CONTENT.length]);
  assert.not(existsSync(`${to}.part`));
});

test('an earlier part is continued, not fetched again', async () => {
  writeFileSync(`${to}.part`, CONTENT.subarray(0, 100_000));
  await download(options());
  assert.ok(readFileSync(to).equals(CONTENT));
  assert.equal(server.requests, [{ path: '/file.whl', range: 'bytes=100000-' }]);
});

test('a connection that breaks off is continued where it stopped', async () => {
  server.intercept = (_path, response, content) => {
    if (server.requests.length > 1) return false;
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 120_000), () => setTimeout(() => response.destroy(), 50));
    return true;
  };
  await download(options());
  assert.ok(readFileSync(to).equals(CONTENT));
  assert.is(server.requests.length, 2);
  assert.is(server.requests[1]?.range, 'bytes=120000-');
});

test('a server that ignores Range gives the file from its start', async () => {
  writeFileSync(`${to}.part`, 'something else');
  server.intercept = (_path, response, content) => {
    response.writeHead(200, { 'content-length': content.length }).end(content);
    return true;
  };
  await download(options());
  assert.ok(readFileSync(to).equals(CONTENT));
});

test('a part that is complete already is only checked', async () => {
  writeFileSync(`${to}.part`, CONTENT);
  await download(options());
  assert.ok(readFileSync(to).equals(CONTENT));
});

test('a part of another file is thrown away and the file fetched whole', async () => {
  writeFileSync(`${to}.part`, Buffer.alloc(1000, 1));
  await download(options());
  assert.ok(readFileSync(to).equals(CONTENT));
  assert.equal(
    server.requests.map(({ range }) => range),
    ['bytes=1000-', undefined],
  );
});

test('a wrong checksum fails at once and keeps no file', async () => {
  const error = await failure(download({ ...options(), sha256: '0'.repeat(64) }));
  assert.is(error.code, 'DOWNLOAD_FAILED');
  assert.match(error.message, `its SHA-256 must be ${'0'.repeat(64)}, but is ${sha256}`);
  assert.is(server.requests.length, 1);
  assert.not(existsSync(to));
  assert.not(existsSync(`${to}.part`));
});

test('a missing file fails at once, naming the address and the answer', async () => {
  const error = await failure(download({ ...options(), url: `${server.url}/none.whl` }));
  assert.match(error.message, /\/none\.whl: the server answered 404/);
  assert.is(server.requests.length, 1);
});

test('a server error is tried again, then told', async () => {
  server.intercept = (_path, response) => {
    response.writeHead(503).end();
    return true;
  };
  const error = await failure(download(options()));
  assert.match(error.message, 'the server answered 503');
  assert.is(server.requests.length, 3);
});

test('a server that falls silent is given up', async () => {
  server.intercept = (_path, response, content) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 10));
    return true;
  };
  const error = await failure(download({ ...options(), retries: 0, stallMs: 100 }));
  assert.match(error.message, 'no data for 0.1 s');
});

test('a server that refuses the connection is named with the reason', async () => {
  await server.close();
  const error = await failure(download({ ...options(), retries: 0 }));
  assert.match(error.message, /127\.0\.0\.1:\d+\/file\.whl: .*ECONNREFUSED/);
});

test.run();
