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

const START = String.raw`${COMMON}
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
let input = new Uint8Array();
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
function give(text) {
  input = new TextEncoder().encode(text);
  taken = 0;
}
`;

/** Runs one program and ends. */
export const PROGRAM_SCRIPT = String.raw`${START}
writeAll(3, new TextEncoder().encode('ready\n'));
const job = readFrame();
give(readFrame());
begin(job);
exit(0);
`;

/**
 * Runs one program after the other. What Python is lies in WebAssembly's memory, and is put back as it was after each of
 * them; so are the files in /tmp. A program that ended by itself, or changed other files, or made the memory large, takes
 * the process with it.
 */
export const SERIES_SCRIPT = String.raw`${START}
py.globals.get('keep_process')();
const { FS, _module: wasm } = py;
const MOST_BYTES = 256 * 2 ** 20;
let isSpoilt = false;
const isTemporary = (node) => {
  for (let at = node; at.parent !== at; at = at.parent) if (at.parent.parent === at.parent) return at.name === 'tmp';
  return false;
};
// Whatever changes a file or a folder goes through these.
const root = FS.lookupPath('/').node;
const probe = FS.create('/tmp/probe', 0o600);
for (const operations of new Set([root.node_ops, probe.node_ops, probe.stream_ops])) {
  for (const name of ['setattr', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink', 'write', 'allocate', 'mmap']) {
    const original = operations[name];
    if (original === undefined) continue;
    operations[name] = (target, ...rest) => {
      const node = target.node ?? target;
      const isDevice = FS.isChrdev(node.mode);
      const moved = name === 'rename' && !isTemporary(rest[0]) && rest[0].name !== 'tmp';
      if (!isDevice && (moved || (!isTemporary(node) && node.name !== 'tmp'))) isSpoilt = true;
      return original(target, ...rest);
    };
  }
}
FS.unlink('/tmp/probe');
function clear(folder) {
  for (const name of FS.readdir(folder)) {
    if (name === '.' || name === '..') continue;
    const path = folder + '/' + name;
    if (FS.isDir(FS.lstat(path).mode)) {
      clear(path);
      FS.rmdir(path);
    } else FS.unlink(path);
  }
}
const cwd = FS.cwd();
const streams = [...FS.streams];
const memory = wasm.HEAPU8.slice();
const stack = wasm.stackSave();
writeAll(3, new TextEncoder().encode('ready\n'));
for (;;) {
  const job = readFrame();
  give(readFrame());
  const mark = readFrame();
  const code = begin(job);
  if (isSpoilt || typeof code !== 'number' || wasm.HEAPU8.length > MOST_BYTES) exit(typeof code === 'number' ? code : 1);
  wasm.HEAPU8.set(memory);
  wasm.HEAPU8.fill(0, memory.length);
  wasm.stackRestore(stack);
  FS.streams.length = 0;
  FS.streams.push(...streams);
  FS.chdir(cwd);
  clear('/tmp');
  for (const handle of [1, 2, 3]) writeAll(handle, new TextEncoder().encode(mark + ' ' + code + '\n'));
}
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
