import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes an executable `docker` that keeps a log of its arguments and runs the command of `run` as a process of this
 * machine, so that the protocol can be tested where no engine is. It isolates nothing.
 *
 * @returns the folder to put on the PATH, and the log: one line of JSON a call
 */
export function fakeEngine(folder: string): { bin: string; log: string } {
  const bin = join(folder, 'bin');
  const log = join(folder, 'log');
  mkdirSync(join(folder, 'running'), { recursive: true });
  mkdirSync(bin);
  const script = `#!/usr/bin/python3
import json, os, signal, subprocess, sys
folder = ${JSON.stringify(folder)}
args = sys.argv[1:]
if args == ['--version']:
    print(os.environ.get('FAKE_VERSION', 'Docker version 28.0.0'))
    sys.exit(0)
with open(os.path.join(folder, 'log'), 'a') as handle:
    handle.write(json.dumps(args) + '\\n')
if args[0] == 'rm':
    try:
        with open(os.path.join(folder, 'running', args[-1])) as handle:
            os.killpg(int(handle.read()), signal.SIGKILL)
        os.unlink(os.path.join(folder, 'running', args[-1]))
    except (FileNotFoundError, ProcessLookupError):
        print('Error: No such container: ' + args[-1], file=sys.stderr)
        sys.exit(1)
    sys.exit(0)
mode = os.environ.get('FAKE_ENGINE', '')
if mode == 'down':
    print('Cannot connect to the daemon', file=sys.stderr)
    sys.exit(125)
image = args.index('test-image')
name = args[args.index('--name') + 1]
if mode == 'killed':
    os.write(1, b'\\x00\\x00\\x00\\x02{}')  # the interpreter is up; then its job comes
    os.read(0, 1)
    sys.exit(137)
config = json.loads(args[-1])
config.update(mounts=[], isolated=False)
command = args[image + 1:-1] + [json.dumps(config)]
user = {'user': 65534, 'group': 65534, 'extra_groups': []} if os.getuid() == 0 else {}
child = subprocess.Popen(command, env={'PATH': os.environ['PATH'], 'HOME': '/tmp'}, start_new_session=True, **user)
path = os.path.join(folder, 'running', name)
with open(path, 'w') as handle:
    handle.write(str(child.pid))
code = child.wait()
os.unlink(path)
sys.exit(code if code >= 0 else 128 - code)
`;
  writeFileSync(join(bin, 'docker'), script);
  chmodSync(join(bin, 'docker'), 0o755);
  return { bin, log };
}
