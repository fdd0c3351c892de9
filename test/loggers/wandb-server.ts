import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One line of a run's history, as the server keeps it. */
export type HistoryLine = Record<string, number>;

/** The part of Weights & Biases that the logger speaks with: one run's record and its stream of lines. */
export class WandbServer {
  readonly history: HistoryLine[] = [];
  summary: Record<string, number> = {};
  readonly ids = new Set<string>();
  readonly ends: number[] = [];
  readonly faults: string[] = [];
  config: Record<string, { value: unknown }> = {};
  displayName = '';
  /** Answers 503 to so many calls. */
  failing = 0;
  #server: Server;

  constructor(readonly key = 'secret') {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const expected = `Basic ${Buffer.from(`api:${this.key}`).toString('base64')}`;
        if (request.headers.authorization !== expected) return response.writeHead(401).end('who are you');
        if (this.failing > 0) {
          this.failing--;
          return response.writeHead(503).end('busy');
        }
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, never>;
        const answer = request.url === '/graphql' ? this.#upsert(body) : this.#stream(String(request.url), body);
        return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #upsert(body: { query?: string; variables?: Record<string, string> }): object {
    const { name = '', project, config, displayName } = body.variables ?? {};
    if (!body.query?.includes('upsertBucket')) this.faults.push('not upsertBucket');
    this.ids.add(name);
    this.config = JSON.parse(config ?? '{}') as WandbServer['config'];
    this.displayName = String(displayName);
    const bucket = { name, historyLineCount: this.history.length, project: { name: project, entity: { name: 'me' } } };
    return { data: { upsertBucket: { bucket } } };
  }

  #stream(
    url: string,
    body: { files?: Record<string, { offset: number; content: string[] }>; complete?: boolean; exitcode?: number },
  ): object {
    const [id] = this.ids;
    if (url !== `/files/me/tests/${id}/file_stream`) this.faults.push(`stream at ${url}`);
    const lines = body.files?.['wandb-history.jsonl'];
    if (lines && lines.offset !== this.history.length) this.faults.push(`offset ${lines.offset}`);
    this.history.push(...(lines?.content ?? []).map((line) => JSON.parse(line) as HistoryLine));
    const summary = body.files?.['wandb-summary.json']?.content[0];
    if (summary !== undefined) this.summary = JSON.parse(summary) as Record<string, number>;
    if (body.complete) this.ends.push(Number(body.exitcode));
    return {};
  }
}
