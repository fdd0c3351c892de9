import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A repository that the test hub serves; `lfs` files are listed with their SHA-256, others with git's SHA-1. */
export interface HubRepository {
  id: string;
  commit: string;
  files: Record<string, { content: Buffer; lfs?: boolean }>;
  licence?: string;
  /** Without this token the repository cannot be seen. */
  token?: string;
}

export interface HubServer {
  url: string;
  /** 'GET path' of every request, with its range. */
  requests: string[];
  /** Closes the connection after so many bytes of the next file that is longer, once. */
  cutAfter: number | undefined;
  /** Every later answer has this status. */
  failWith: number | undefined;
  /** Files are sent with these bytes in place of their own. */
  corrupt: boolean;
  close(): Promise<void>;
}

const gitDigest = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

function listing(repository: HubRepository): unknown[] {
  return Object.entries(repository.files).map(([path, { content, lfs }]) => ({
    type: 'file',
    path,
    size: content.length,
    oid: gitDigest(content),
    ...(lfs && { lfs: { oid: createHash('sha256').update(content).digest('hex'), size: content.length } }),
  }));
}

/** A hub with the endpoints that a download needs: model info, the list of files, the files with ranges. */
export async function startHub(repository: HubRepository): Promise<HubServer> {
  const { id, commit, files, licence, token } = repository;
  const json = (response: ServerResponse, status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  const sendFile = (request: IncomingMessage, response: ServerResponse, path: string) => {
    const content = files[path]?.content;
    if (!content) return json(response, 404, { error: 'Entry not found' });
    const begin = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const body = hub.corrupt ? Buffer.alloc(content.length - begin, 'x') : content.subarray(begin);
    response.writeHead(begin > 0 ? 206 : 200, { 'content-length': body.length });
    const cut = hub.cutAfter;
    if (cut === undefined || body.length <= cut) return response.end(body);
    hub.cutAfter = undefined;
    response.write(body.subarray(0, cut), () => response.destroy());
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://hub');
    hub.requests.push(`${url.pathname}${request.headers.range ? ` ${request.headers.range}` : ''}`);
    if (hub.failWith) return json(response, hub.failWith, { error: 'made to fail' });
    if (token && request.headers.authorization !== `Bearer ${token}`) {
      return json(response, 401, { error: 'Invalid username or password.' });
    }
    const info = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/([^/]+)$/.exec(url.pathname);
    if (info?.[1] === id && ['main', 'v1', commit].includes(info[2]!)) {
      return json(response, 200, { _id: '1', id, sha: commit, cardData: licence ? { license: licence } : undefined });
    }
    if (url.pathname === `/api/models/${id}/tree/${commit}`) return json(response, 200, listing(repository));
    const prefix = `/${id}/resolve/${commit}/`;
    if (url.pathname.startsWith(prefix)) return sendFile(request, response, url.pathname.slice(prefix.length));
    return json(response, 404, { error: 'Repository not found' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hub: HubServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    cutAfter: undefined,
    failWith: undefined,
    corrupt: false,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return hub;
}
