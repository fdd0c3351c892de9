import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GrpoError } from '../errors.js';
import type { TokenBytes } from '../tokenizer/types.js';
import { orderGroups } from './choose-groups.js';
import { groupView, SERVED_LIMITS } from './episode-view.js';
import { renderPage } from './page.js';
import { readRunConfig, runData } from './run-data.js';
import { TrajectoryIndex } from './trajectory-index.js';
import { GROUP_FILTERS } from './types.js';
import type { GroupFilter, RunData } from './types.js';
import { tokensOf } from './write-report.js';
import type { ReportOptions } from './write-report.js';

const HOST = '127.0.0.1';
/** Groups of one answer at most. */
const MOST_GROUPS = 200;
/** How long an end waits for pages that look on to fetch the last state, ms. */
const LAST_LOOK_MS = 3_000;

/** A run's page under an address of this machine. */
export interface ServedReport {
  /** e.g. `http://127.0.0.1:7007/` */
  address: string;
  /** Gives pages that are open the time to fetch the last state, then stops. */
  close: () => Promise<void>;
}

class BadRequest extends Error {}

/** Answers what the page of one run asks for, from the files as they are then. */
class RunAnswers {
  readonly #folder: string;
  readonly #options: ReportOptions;
  readonly #index: TrajectoryIndex;
  #tokens: Promise<TokenBytes | undefined> | undefined;
  #tokenNotes: string[] = [];

  constructor(folder: string, options: ReportOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#index = new TrajectoryIndex(folder);
  }

  async data(): Promise<RunData> {
    await this.#index.scan();
    const data = await runData(this.#folder, this.#index);
    if (data.episodes.total > 0) await this.#tokenBytes(data);
    return { ...data, notes: [...data.notes, ...this.#tokenNotes] };
  }

  /** Once; what it adds to the notes is kept. */
  async #tokenBytes(data: RunData): Promise<TokenBytes | undefined> {
    this.#tokens ??= (async () => {
      const noted = { ...data, notes: [] };
      const tokens = await tokensOf(this.#folder, noted, this.#options);
      this.#tokenNotes = noted.notes;
      return tokens;
    })();
    return this.#tokens;
  }

  async groups(query: URLSearchParams): Promise<unknown> {
    const filter = (query.get('filter') ?? 'all') as GroupFilter;
    if (!GROUP_FILTERS.includes(filter)) throw new BadRequest(`filter must be one of ${GROUP_FILTERS.join(', ')}`);
    await this.#index.scan();
    const [task, step] = [query.get('task'), query.get('step')];
    const found = orderGroups(this.#index.summaries(), filter)
      .filter((group) => task === null || group.task === task)
      .filter((group) => step === null || group.step === Number(step));
    const from = Math.max(0, Number(query.get('from') ?? 0) || 0);
    const count = Math.min(MOST_GROUPS, Math.max(1, Number(query.get('count') ?? 1) || 1));
    return { total: found.length, groups: found.slice(from, from + count) };
  }

  async group(query: URLSearchParams): Promise<unknown> {
    const [step, group] = [Number(query.get('step')), Number(query.get('group'))];
    await this.#index.scan();
    const summary = this.#index.summaries().find((one) => one.step === step && one.group === group);
    if (summary === undefined) throw new BadRequest('there is no such group');
    const tokens = await (this.#tokens ?? this.data().then((data) => this.#tokenBytes(data)));
    const [episodes] = await this.#index.read([summary]);
    return groupView(summary, episodes ?? [], tokens, SERVED_LIMITS);
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  response.end(body);
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((settle, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE' ? 'it is taken; choose another --port, or 0 for any' : error.message;
      fail(new GrpoError('IO_FAILED', 'report', `port ${port} cannot be opened: ${taken}`, { cause: error }));
    });
    server.listen(port, HOST, settle);
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Serves a run's page on 127.0.0.1: it follows the run while it grows, and pages through all its episodes.
 *
 * @param run the run's folder
 * @param options `port`: 0 = any that is free; `tokenizer` as for `writeReport`
 * @throws {GrpoError} RUN_INVALID where the folder holds no run, IO_FAILED where the port is taken
 */
export async function serveReport(
  run: string,
  { port = 0, ...options }: ReportOptions & { port?: number } = {},
): Promise<ServedReport> {
  await readRunConfig(run);
  const answers = new RunAnswers(run, options);
  const page = await renderPage({ title: 'run', entry: 'run-page', data: { served: true }, served: true });
  let isEnding = false;
  let lastAsked = -Infinity;
  let lastLook: (() => void) | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse, own: number): Promise<void> => {
    // A name of another site that points here must not read the run.
    const host = (request.headers.host ?? '').toLowerCase();
    if (![`${HOST}:${own}`, `localhost:${own}`].includes(host))
      return send(response, 403, 'text/plain', 'not this host');
    if (request.method !== 'GET') return send(response, 405, 'text/plain', 'only GET');
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${HOST}`);
    const json = async (value: Promise<unknown>) =>
      send(response, 200, 'application/json', JSON.stringify(await value));
    if (pathname === '/') return send(response, 200, 'text/html', page);
    if (pathname === '/groups') return json(answers.groups(searchParams));
    if (pathname === '/group') return json(answers.group(searchParams));
    if (pathname !== '/data') return send(response, 404, 'text/plain', 'there is no such page');
    lastAsked = performance.now();
    const isLast = isEnding;
    await json(answers.data());
    if (isLast) response.on('finish', () => lastLook?.());
  };
  const server = createServer((request, response) => {
    const own = (server.address() as AddressInfo).port;
    answer(request, response, own).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      send(response, error instanceof BadRequest ? 400 : 500, 'text/plain', message);
    });
  });
  const own = await listen(server, port);
  return {
    address: `http://${HOST}:${own}/`,
    close: async () => {
      isEnding = true;
      if (performance.now() - lastAsked < LAST_LOOK_MS) {
        await new Promise<void>((settle) => {
          lastLook = settle;
          setTimeout(settle, LAST_LOOK_MS);
        });
      }
      await new Promise<void>((settle) => {
        server.close(() => settle());
        server.closeAllConnections();
      });
    },
  };
}
