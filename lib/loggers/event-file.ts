import { open, readdir, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { crc32c } from '@node-rs/crc32';
import protobuf from 'protobufjs/light.js';

// The parts of tensorboard/compat/proto/{event,summary,tensor}.proto that are written here, by their numbers there.
const ROOT = protobuf.Root.fromJSON({
  nested: {
    Event: {
      fields: {
        wallTime: { type: 'double', id: 1 },
        step: { type: 'int64', id: 2 },
        fileVersion: { type: 'string', id: 3 },
        summary: { type: 'Summary', id: 5 },
        sessionLog: { type: 'SessionLog', id: 7 },
      },
    },
    SessionLog: { fields: { status: { type: 'int32', id: 1 } } },
    Summary: {
      fields: { value: { rule: 'repeated', type: 'Value', id: 1 } },
      nested: {
        Value: {
          // As in the original: else a number that is 0 would be left out.
          oneofs: { value: { oneof: ['simpleValue', 'tensor'] } },
          fields: {
            tag: { type: 'string', id: 1 },
            simpleValue: { type: 'float', id: 2 },
            tensor: { type: 'Tensor', id: 8 },
            metadata: { type: 'Metadata', id: 9 },
          },
        },
      },
    },
    Metadata: { fields: { pluginData: { type: 'PluginData', id: 1 } } },
    PluginData: { fields: { pluginName: { type: 'string', id: 1 } } },
    Tensor: {
      fields: {
        dtype: { type: 'int32', id: 1 },
        tensorShape: { type: 'Shape', id: 2 },
        stringVal: { rule: 'repeated', type: 'bytes', id: 8 },
      },
    },
    Shape: { fields: { dim: { rule: 'repeated', type: 'Dim', id: 2 } } },
    Dim: { fields: { size: { type: 'int64', id: 1 } } },
  },
});
const EVENT = ROOT.lookupType('Event');
const SESSION_START = 1;
const DT_STRING = 7;

interface SummaryValue {
  tag: string;
  simpleValue?: number;
  metadata?: { pluginData: { pluginName: string } };
  tensor?: { dtype: number; tensorShape: { dim: { size: number }[] }; stringVal: Uint8Array[] };
}

interface LogEvent {
  /** Unix time in seconds. */
  wallTime: number;
  step?: number;
  fileVersion?: string;
  sessionLog?: { status: number };
  summary?: { value: SummaryValue[] };
}

/** A number under a tag. */
export const scalarValue = (tag: string, simpleValue: number): SummaryValue => ({ tag, simpleValue });

/** Markdown under a tag, for the text page. */
export const textValue = (tag: string, markdown: string): SummaryValue => ({
  tag,
  metadata: { pluginData: { pluginName: 'text' } },
  tensor: { dtype: DT_STRING, tensorShape: { dim: [{ size: 1 }] }, stringVal: [Buffer.from(markdown)] },
});

/** TFRecord's checksum: CRC32C, rotated and shifted, so that a record of records is none. */
function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** One event as a TFRecord: length, its checksum, the data, their checksum. */
function record(event: LogEvent): Buffer {
  const data = EVENT.encode(EVENT.create(event)).finish();
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(data.length));
  head.writeUInt32LE(maskedCrc(head.subarray(0, 8)), 8);
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(maskedCrc(data));
  return Buffer.concat([head, data, tail]);
}

const NAME = /^events\.out\.tfevents\.(\d+)\./;

/** Names of the event files of a folder, oldest first. */
async function eventFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort();
}

/** The highest step in the event files of a folder; undefined where there are none. A record that was cut off ends its file. */
export async function lastLoggedStep(folder: string): Promise<number | undefined> {
  let last: number | undefined;
  for (const name of await eventFiles(folder)) {
    const bytes = await readFile(join(folder, name));
    for (let at = 0; at + 16 <= bytes.length;) {
      const end = at + 12 + Number(bytes.readBigUInt64LE(at));
      if (end + 4 > bytes.length) break;
      const event = EVENT.toObject(EVENT.decode(bytes.subarray(at + 12, end)), { longs: Number });
      if (event['summary'] !== undefined) last = Math.max(last ?? 0, Number(event['step'] ?? 0));
      at = end + 4;
    }
  }
  return last;
}

/** A TensorBoard event file that is being written. */
export class EventFile {
  private constructor(private readonly handle: FileHandle) {}

  /**
   * Makes a new file, whose name sorts behind all others of the folder.
   *
   * @param purgeFrom what earlier files hold of this step and later ones is forgotten
   */
  static async create(folder: string, purgeFrom = 0): Promise<EventFile> {
    const last = (await eventFiles(folder)).at(-1);
    const now = Math.floor(Date.now() / 1000);
    const stamp = Math.max(now, Number(NAME.exec(last ?? '')?.[1] ?? 0) + 1);
    const handle = await open(join(folder, `events.out.tfevents.${stamp}.${hostname()}`), 'ax');
    const file = new EventFile(handle);
    await file.append({ wallTime: now, fileVersion: 'brain.Event:2' });
    // TensorBoard takes the first start that it reads for the beginning, and each later one for a restart at its step.
    await file.append({ wallTime: now, step: purgeFrom, sessionLog: { status: SESSION_START } });
    return file;
  }

  /** Writes the values of a step. */
  async write(step: number, wallTime: number, value: SummaryValue[]): Promise<void> {
    await this.append({ wallTime, step, summary: { value } });
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  private async append(event: LogEvent): Promise<void> {
    await this.handle.appendFile(record(event));
  }
}
