import { GrpoError } from '../errors.js';

/** A run as Weights & Biases knows it. */
export interface WandbRun {
  entity: string;
  project: string;
  id: string;
  /** Lines of its history so far. */
  lines: number;
}

/** What a new run is called. */
export interface WandbRunNames {
  id: string;
  project: string;
  /** The key's own where it is left out. */
  entity?: string;
  displayName: string;
  group?: string;
  config: Record<string, unknown>;
}

const REQUEST_MS = 10_000;

const UPSERT = `mutation UpsertBucket($name: String!, $project: String, $entity: String, $displayName: String,
  $groupName: String, $config: JSONString) {
  upsertBucket(input: { name: $name, modelName: $project, entityName: $entity, displayName: $displayName,
    groupName: $groupName, config: $config }) {
    bucket { name historyLineCount project { name entity { name } } }
  }
}`;

interface Upserted {
  upsertBucket?: {
    bucket?: { name: string; historyLineCount?: number | null; project: { name: string; entity: { name: string } } };
  };
}

const failed = (message: string, cause?: unknown) => new GrpoError('IO_FAILED', 'wandb', message, { cause });

/** The two calls of Weights & Biases' HTTP interface that logging needs: a run's record, and its stream of lines. */
export class WandbApi {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  /** @param url the server, e.g. `https://api.wandb.ai` */
  constructor(url: string, key: string, version: string) {
    this.#url = url.replace(/\/+$/, '');
    this.#headers = {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'user-agent': `grpo-native/${version}`,
    };
  }

  /**
   * Makes a run, or finds the one of that id.
   *
   * @throws {GrpoError} IO_FAILED
   */
  async upsertRun({ id, group, config, ...names }: WandbRunNames): Promise<WandbRun> {
    const wrapped = Object.entries(config).map(([key, value]) => [key, { value }]);
    const variables = { ...names, name: id, groupName: group, config: JSON.stringify(Object.fromEntries(wrapped)) };
    const answer = await this.#post('/graphql', { query: UPSERT, variables });
    const { data, errors } = answer as { data?: Upserted; errors?: { message: string }[] };
    const bucket = data?.upsertBucket?.bucket;
    if (!bucket) throw failed(`${this.#url} made no run: ${errors?.[0]?.message ?? 'its answer names none'}`);
    const { project, historyLineCount } = bucket;
    return { entity: project.entity.name, project: project.name, id: bucket.name, lines: historyLineCount ?? 0 };
  }

  /**
   * Adds lines to a run's history, replaces its summary, or tells that the run goes on or has ended.
   *
   * @throws {GrpoError} IO_FAILED
   */
  async stream({ entity, project, id }: WandbRun, body: object): Promise<void> {
    const path = [entity, project, id].map(encodeURIComponent).join('/');
    await this.#post(`/files/${path}/file_stream`, body);
  }

  async #post(path: string, body: object): Promise<unknown> {
    const request = { method: 'POST', headers: this.#headers, body: JSON.stringify(body) };
    const response = await fetch(this.#url + path, { ...request, signal: AbortSignal.timeout(REQUEST_MS) }).catch(
      (error: unknown) => {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        throw failed(
          `${this.#url} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`,
          error,
        );
      },
    );
    const text = await response.text();
    if (response.status === 401 || response.status === 403) {
      throw failed(`${this.#url} refuses the key in WANDB_API_KEY (${response.status})`);
    }
    if (!response.ok) throw failed(`${this.#url} answered ${response.status}: ${text.slice(0, 200)}`);
    try {
      return text === '' ? {} : JSON.parse(text);
    } catch (error) {
      throw failed(`${this.#url} answered no JSON: ${text.slice(0, 200)}`, error);
    }
  }
}
