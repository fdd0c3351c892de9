import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A local server of a few files, which can misbehave. */
export interface FileServer {
  url: string;
  /** path -> content */
  files: Map<string, Buffer | string>;
  /** One entry a request: path and Range header. */
  requests: { path: string; range: string | undefined }[];
  /** Called before a file is sent; true: it has dealt with the request. */
  intercept: ((path: string, response: ServerResponse, content: Buffer) => boolean) | undefined;
  close(): Promise<void>;
}

export async function startFileServer(): Promise<FileServer> {
  const files = new Map<string, Buffer | string>();
  const requests: FileServer['requests'] = [];
  const state: FileServer = { url: '', files, requests, intercept: undefined, close: async () => undefined };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    requests.push({ path, range: request.headers.range });
    const found = files.get(path);
    if (found === undefined) {
      response.writeHead(404).end('not here');
      return;
    }
    const content = Buffer.from(found);
    if (state.intercept?.(path, response, content)) return;
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    if (start >= content.length && start > 0) {
      response.writeHead(416).end();
      return;
    }
    const body = content.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': body.length }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return state;
}
