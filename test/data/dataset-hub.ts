import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A data set that the test hub serves. */
export interface HubDataset {
  id: string;
  commit: string;
  files: Record<string, Buffer>;
  licence?: string | string[];
  /** Without this token it cannot be seen. */
  token?: string;
}

/** A hub with the end points that data sets need. */
export async function startDatasetHub({ id, commit, files, licence, token }: HubDataset) {
  const requests: string[] = [];
  const listing = Object.entries(files).map(([path, content]) => ({
    type: 'file',
    path,
    size: content.length,
    oid: createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex'),
    lfs: { oid: createHash('sha256').update(content).digest('hex'), size: content.length, pointerSize: 130 },
  }));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://hub');
    requests.push(pathname);
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (token && request.headers.authorization !== `Bearer ${token}`) return json(401, { error: 'no access' });
    if (pathname.startsWith(`/api/datasets/${id}/revision/`)) {
      return json(200, { _id: '1', id, sha: commit, cardData: licence ? { license: licence } : undefined });
    }
    if (pathname === `/api/datasets/${id}/tree/${commit}`) return json(200, listing);
    const content = files[decodeURIComponent(pathname.split(`/datasets/${id}/resolve/${commit}/`)[1] ?? '')];
    if (content) return response.writeHead(200, { 'content-length': content.length }).end(content);
    return json(404, { error: 'Repository not found' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
