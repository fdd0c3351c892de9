import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GrpoError } from '../errors.js';
import { replaceFile } from '../model/durable-write.js';
import { packageVersion } from '../run/index.js';
import type { LogEnd, LoggerContext, LogRow, RunLogger } from './types.js';
import { WandbApi } from './wandb-api.js';
import type { WandbRun } from './wandb-api.js';

const DEFAULT_URL = 'https://api.wandb.ai';
const DEFAULT_PROJECT = 'grpo-native';
/** A run that is silent for minutes counts as crashed. */
const HEARTBEAT_MS = 30_000;
const MOST_LINES = 500;
const EXIT_CODES: Record<LogEnd, number> = { finished: 0, interrupted: 255, failed: 1 };

/** What `wandb.json` in the run's folder holds, so that a run that goes on stays one run there. */
interface Sent {
  id: string;
  entity?: string;
  project?: string;
  /** The last step that was sent; -1 before the first. */
  step: number;
}

async function readSent(path: string): Promise<Sent | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Sent);
}

/**
 * Weights & Biases over its HTTP interface, with the key in `WANDB_API_KEY`. Rows are sent in the background; what cannot be
 * sent is kept and tried again with the next row and at the end.
 */
class WandbLogger implements RunLogger {
  readonly name = 'wandb';
  readonly #path: string;
  #sent: Sent = { id: randomBytes(4).toString('hex'), step: -1 };
  #api: WandbApi | undefined;
  #run: WandbRun | undefined;
  #waiting: LogRow[] = [];
  #summary: Record<string, number> = {};
  #started = 0;
  #sending: Promise<void> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  /** What was last told, so that an outage is told once. */
  #fault: string | undefined;

  constructor(private readonly context: LoggerContext) {
    this.#path = join(context.folder, 'wandb.json');
  }

  async open(rows: readonly LogRow[]): Promise<void> {
    const { env, folder, message } = this.context;
    const mode = env['WANDB_MODE'] ?? 'online';
    if (mode !== 'online') {
      message(`wandb: nothing is sent (WANDB_MODE ${mode}); grpo-native log ${folder} --to wandb sends it later`);
      return;
    }
    const key = env['WANDB_API_KEY'];
    if (!key) throw new GrpoError('INVALID_CONFIG', 'wandb', 'there is no key: set WANDB_API_KEY');
    this.#sent = (await readSent(this.#path)) ?? this.#sent;
    this.#api = new WandbApi(env['WANDB_BASE_URL'] || DEFAULT_URL, key, packageVersion());
    this.#started = rows[0]?.time ?? Date.now() / 1000;
    for (const row of rows) this.#keep(row);
    this.#send();
  }

  write(row: LogRow): Promise<void> {
    if (this.#api !== undefined) {
      this.#keep(row);
      this.#send();
    }
    return Promise.resolve();
  }

  async close(end: LogEnd): Promise<boolean> {
    clearInterval(this.#heartbeat);
    if (this.#api === undefined) return false;
    await this.#sending;
    this.#fault = undefined;
    try {
      await this.#flush();
      if (this.#run) await this.#api.stream(this.#run, { complete: true, exitcode: EXIT_CODES[end] });
      return true;
    } catch (error) {
      const left = this.#waiting.length;
      const reason = error instanceof Error ? error.message : String(error);
      const advice = `grpo-native log ${this.context.folder} --to wandb sends them later`;
      this.context.warning(`wandb: ${left} steps were not sent: ${reason}; ${advice}`);
      return false;
    }
  }

  /** Steps that were sent before are not sent again: a run that goes on repeats those after its checkpoint. */
  #keep(row: LogRow): void {
    Object.assign(this.#summary, row.scalars, { _step: row.step });
    if (row.step > this.#sent.step) this.#waiting.push(row);
  }

  /** Sends in the background what is waiting. */
  #send(): void {
    this.#sending ??= this.#flush()
      .then(() => void (this.#fault = undefined))
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== this.#fault) this.context.warning(`wandb: ${reason}; steps are kept and tried again`);
        this.#fault = reason;
      })
      .finally(() => void (this.#sending = undefined));
  }

  async #flush(): Promise<void> {
    const api = this.#api as WandbApi;
    const run = (this.#run ??= await this.#begin(api));
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.slice(0, MOST_LINES);
      const content = rows.map(({ step, time, scalars }) =>
        JSON.stringify({ ...scalars, _step: step, _timestamp: time, _runtime: Math.max(0, time - this.#started) }),
      );
      await api.stream(run, {
        files: {
          'wandb-history.jsonl': { offset: run.lines, content },
          'wandb-summary.json': { offset: 0, content: [JSON.stringify(this.#summary)] },
        },
      });
      run.lines += rows.length;
      this.#waiting.splice(0, rows.length);
      this.#sent = { ...this.#sent, step: (rows.at(-1) as LogRow).step };
      await this.#remember();
    }
  }

  async #begin(api: WandbApi): Promise<WandbRun> {
    const { env, folder, config } = this.context;
    const entity = this.#sent.entity ?? env['WANDB_ENTITY'];
    const group = env['WANDB_RUN_GROUP'];
    const run = await api.upsertRun({
      id: this.#sent.id,
      project: this.#sent.project ?? env['WANDB_PROJECT'] ?? DEFAULT_PROJECT,
      ...(entity ? { entity } : {}),
      ...(group ? { group } : {}),
      displayName: env['WANDB_NAME'] || basename(folder),
      config,
    });
    this.#sent = { ...this.#sent, entity: run.entity, project: run.project };
    await this.#remember();
    const beat = () => void api.stream(run, {}).catch(() => undefined);
    this.#heartbeat = setInterval(beat, HEARTBEAT_MS).unref();
    return run;
  }

  async #remember(): Promise<void> {
    await replaceFile(this.#path, (handle) => handle.writeFile(`${JSON.stringify(this.#sent)}\n`));
  }
}

/** The logger of Weights & Biases. */
export const wandbLogger = (context: LoggerContext): RunLogger => new WandbLogger(context);
