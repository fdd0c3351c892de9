import type { RunStatus } from '../../lib/sandbox/types.js';

/** A program that tries something, and how its run must end. */
export interface Hostile {
  name: string;
  code: string;
  status: RunStatus | RunStatus[];
  stdout?: RegExp;
}

const attempts = (tries: string[], end = 'print("end")'): string =>
  [
    ...tries.map((line) => `try:\n    ${line}\n    print("DONE", ${JSON.stringify(line)})\nexcept OSError:\n    pass`),
    end,
  ].join('\n');

const paths = ['/root', '/home', '/var/log', '/run', '/sys/fs', '/proc/1/fd', '/proc/1/root', '/mnt', '/srv', '/opt'];
const files = ['/etc/shadow', '/etc/hostname', '/proc/1/environ', '/proc/1/mem', '/proc/kcore', '/dev/tty'];
const targets = ['/x', '/dev/x', '/usr/x', '/etc/x', '/proc/x', '/var/x', '/bin/x', '/python/x'];

/**
 * @param port a port on which the host listens at 127.0.0.1
 * @param own paths of the host's that a sandbox has of its own, with nothing of the host's in them
 */
export function hostilePrograms(port: number, own: string[] = []): Hostile[] {
  const [folders, read] = [paths, files].map((list) => list.filter((path) => !own.includes(path))) as [
    string[],
    string[],
  ];
  return [
    { name: 'loops for ever', code: 'while True: pass', status: 'timeout' },
    {
      name: 'ignores all signals',
      code: 'import signal\nfor s in range(1, 64):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nwhile True: pass',
      status: 'timeout',
    },
    {
      name: 'leaves a daemon behind',
      code: 'import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    time.sleep(60)\n  os._exit(0)\nprint("left")',
      status: 'ok',
      stdout: /^left\n$/,
    },
    {
      name: 'is a fork bomb',
      code: 'import os\nwhile True:\n  try: os.fork()\n  except OSError: pass',
      status: 'timeout',
    },
    {
      name: 'is a thread bomb',
      code: 'import threading, time\nn = 0\ntry:\n  while True:\n    threading.Thread(target=time.sleep, args=(30,), daemon=True).start(); n += 1\nexcept RuntimeError: print(n < 64)',
      status: 'ok',
      stdout: /^True\n$/,
    },
    { name: 'floods its output', code: 'while True: print("x" * 1000)', status: 'output' },
    { name: 'floods its errors', code: 'import sys\nwhile True: sys.stderr.write("x" * 1000)', status: 'output' },
    { name: 'fills the memory', code: 'x = []\nwhile True: x.append(bytearray(1 << 20))', status: 'memory' },
    {
      name: 'fills the memory with many processes',
      code: 'import os, time\nfor i in range(6):\n  if os.fork() == 0:\n    x = bytearray(100 << 20)\n    time.sleep(30)\ntime.sleep(30)',
      status: 'memory',
    },
    {
      name: 'fills the memory with shared mappings',
      code: 'import mmap, os, time\nfor i in range(6):\n  if os.fork() == 0:\n    m = mmap.mmap(-1, 100 << 20)\n    m.write(b"x" * (100 << 20))\n    time.sleep(30)\ntime.sleep(30)',
      status: 'memory',
    },
    {
      name: 'fills the disk',
      code: 'try:\n  with open("big", "wb") as f:\n    while True: f.write(b"x" * (1 << 20))\nexcept OSError as e: print(e.errno)\nn = 0\ntry:\n  while True:\n    n += 1\n    with open("f%d" % n, "wb") as f: f.write(b"x" * (16 << 20))\nexcept OSError as e: print(e.errno)',
      status: ['ok', 'memory'],
      stdout: /^27\n(28\n)?$/,
    },
    {
      name: 'makes files without end',
      code: 'n = 0\ntry:\n  while True:\n    n += 1; open("i%d" % n, "w").close()\nexcept OSError as e: print(e.errno)',
      status: ['ok', 'memory'],
    },
    {
      name: 'writes outside',
      code: attempts(targets.map((path) => `open(${JSON.stringify(path)}, "w")`)),
      status: 'ok',
      stdout: /^end\n$/,
    },
    {
      name: 'lists host folders',
      code: `import os\n${attempts(folders.map((path) => `os.listdir("${path}")`))}`,
      status: 'ok',
      stdout: /^end\n$/,
    },
    {
      name: 'reads host files',
      code: attempts(read.map((path) => `open("${path}", "rb").read(1)`)),
      status: 'ok',
      stdout: /^end\n$/,
    },
    {
      name: 'reads the environment of the host',
      code: 'import os, glob\nt = str(os.environ)\nfor p in glob.glob("/proc/*/environ"):\n  try: t += open(p, "rb").read().decode()\n  except OSError: pass\nprint("sesame" in t)',
      status: 'ok',
      stdout: /^False\n$/,
    },
    {
      name: 'uses the network',
      code: `import socket\n${attempts([`socket.create_connection(("127.0.0.1", ${port}), timeout=1)`, 'socket.create_connection(("8.8.8.8", 53), timeout=1)', 'socket.create_connection(("169.254.169.254", 80), timeout=1)'])}`,
      status: 'ok',
      stdout: /^end\n$/,
    },
    {
      name: 'signals everybody',
      code: 'import os, signal\nfor p in range(1, 500):\n  if p != os.getpid():\n    for s in (signal.SIGKILL, signal.SIGSTOP):\n      try: os.kill(p, s)\n      except OSError: pass\ntry: os.kill(-1, signal.SIGKILL)\nexcept OSError: pass\nprint("alive")',
      status: 'ok',
      stdout: /^alive\n$/,
    },
    {
      name: 'asks the kernel for more rights',
      code: 'import ctypes\nc = ctypes.CDLL(None)\nprint(c.ptrace(16, 1, 0, 0), c.unshare(0x10000000), c.mount(b"none", b"/tmp", b"tmpfs", 0, None), c.setuid(0), c.chroot(b"/tmp"))',
      status: 'ok',
      stdout: /^-1 -1 -1 -1 -1\n$/,
    },
    {
      name: 'writes to inherited descriptors',
      code: 'import os\nfor f in range(3, 300):\n  try: os.write(f, b"junk"); print("WROTE", f)\n  except OSError: pass\nprint("end")',
      status: 'ok',
      stdout: /^end\n$/,
    },
    {
      name: 'raises its limits',
      code: 'import resource\ntry:\n  resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); print("RAISED")\nexcept (ValueError, OSError): print("no")',
      status: 'ok',
      stdout: /^no\n$/,
    },
    {
      name: 'closes its output and goes on',
      code: 'import os\nos.close(1); os.close(2)\nwhile True: pass',
      status: 'timeout',
    },
    { name: 'crashes the interpreter', code: 'import ctypes\nctypes.string_at(0)', status: 'error' },
    {
      name: 'leaves files behind',
      code: 'import os\nprint(os.path.exists("/tmp/left"), os.listdir("/dev/shm"))\nopen("/tmp/left", "w"); open("/dev/shm/left", "w")',
      status: 'ok',
      stdout: /^False \[\]\n$/,
    },
    {
      name: 'looks for files of the one before',
      code: 'import os\nprint(os.path.exists("/tmp/left"), os.listdir("/dev/shm"), os.listdir("."))',
      status: 'ok',
      stdout: /^False \[\] \['main.py'\]\n$/,
    },
  ];
}
