/** JavaScript of the child process, run by `node --eval` with the constant python before it and pyodide's module as its argument. */
const COMMON = String.raw`
import { Buffer } from 'node:buffer';
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

const { argv, exit } = process;
const entry = argv[1];
const wait = new Int32Array(new SharedArrayBuffer(4));

// A pipe may be full or empty for a moment.
function patiently(act) {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(wait, 0, 0, 5);
    }
  }
}

function writeAll(handle, bytes) {
  for (let done = 0; done < bytes.length; ) done += patiently(() => fs.writeSync(handle, bytes, done));
  return bytes.length;
}

function read(size) {
  const bytes = Buffer.alloc(size);
  for (let done = 0; done < size; ) {
    const count = patiently(() => fs.readSync(0, bytes, done, size - done, null));
    if (count === 0) exit(0); // the parent ended
    done += count;
  }
  return bytes;
}

const readFrame = () => read(read(4).readUInt32BE()).toString('utf8');

// Printed whole, an error shows a line of a megabyte.
process.on('uncaughtException', (error) => {
  writeAll(2, Buffer.from(String(error?.stack ?? error).slice(0, 4000) + '\n'));
  exit(1);
});

async function load() {
  const { loadPyodide } = await import(pathToFileURL(entry).href);
  // Asked for its constants alone, which the permission model would refuse.
  process.binding = () => ({ fs: fs.constants });
  return loadPyodide({ jsglobals: Object.create(null), env: { HOME: '/tmp' } });
}
`;

/** Runs one program and ends. */
export const PROGRAM_SCRIPT = String.raw`${COMMON}
const py = await load();
// What WebAssembly asks of the process: to end with a code. The rest of it, and the network, goes.
const number = () => 1000;
const rest = { exit, getuid: number, geteuid: number, getgid: number, getegid: number, hrtime: process.hrtime };
Object.defineProperty(rest, 'exitCode', { set: exit });
for (const name of ['fetch', 'WebSocket', 'EventSource', 'Worker', 'navigator', 'Buffer']) delete globalThis[name];
globalThis.process = rest;
const device = py.FS.makedev(64, 0);
py.FS.registerDevice(device, {
  write: (stream, buffer, offset, length) => writeAll(3, buffer.slice(offset, offset + length)),
});
py.FS.mkdev('/dev/report', device);
py.setStdout({ write: (bytes) => writeAll(1, bytes) });
py.setStderr({ write: (bytes) => writeAll(2, bytes) });
py.runPython(python);
writeAll(3, new TextEncoder().encode('ready\n'));
const [job, text] = [readFrame(), readFrame()];
const input = new TextEncoder().encode(text);
let taken = 0;
py.setStdin({
  read(buffer) {
    const part = input.subarray(taken, taken + buffer.length);
    buffer.set(part);
    taken += part.length;
    return part.length;
  },
});
const begin = py.globals.get('begin');
begin(job);
exit(0);
`;

/** Answers questions about tests in frames: 4 bytes of length, then JSON. */
export const JUDGE_SCRIPT = String.raw`${COMMON}
function writeFrame(text) {
  const body = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  writeAll(1, Buffer.concat([head, body]));
}

const py = await load();
py.runPython(python);
const answer = py.globals.get('answer');
writeFrame('{}');
for (;;) writeFrame(answer(readFrame()));
`;
