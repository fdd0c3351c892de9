import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const PYTHON = '/usr/bin/python3';

/** A container engine with a store of its own and an image of this machine's Python. */
export interface TestEngine {
  image: string;
  /** Names of the containers that there are. */
  containers: () => string[];
  remove: () => void;
}

const output = (command: string, args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });

function onPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
}

/** Libraries that files are linked with, the loader among them. */
function libraries(files: string[]): string[] {
  const found = new Set<string>();
  for (const file of files) {
    for (const [, path] of output('ldd', [file]).matchAll(/(?:=> |^\s*)(\/\S+) \(/gm)) found.add(path!);
  }
  return [...found];
}

/** Python, its standard library and the libraries that they need, and nothing else. */
function fillRoot(root: string): void {
  const version = output(PYTHON, ['-c', 'import sys; print("python%d.%d" % sys.version_info[:2])']).trim();
  const standard = join('/usr/lib', version);
  for (const folder of ['usr/bin', 'usr/lib', 'usr/lib64', 'etc', 'proc', 'dev', 'sys']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const [link, target] of [
    ['bin', 'usr/bin'],
    ['lib', 'usr/lib'],
    ['lib64', 'usr/lib64'],
  ]) {
    symlinkSync(target!, join(root, link!));
  }
  cpSync(PYTHON, join(root, PYTHON), { dereference: true });
  cpSync(standard, join(root, standard), {
    recursive: true,
    dereference: true,
    filter: (path) => !/\/(__pycache__|test|idlelib|ensurepip|config-[^/]*)$/.test(path) && existsSync(path),
  });
  const modules = output('find', [join(standard, 'lib-dynload'), '-name', '*.so'])
    .trim()
    .split('\n');
  for (const library of libraries([PYTHON, ...modules])) {
    mkdirSync(dirname(join(root, library)), { recursive: true });
    cpSync(library, join(root, library), { dereference: true });
  }
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/false\n');
}

/**
 * Makes an image of this machine's Python for the Podman of this machine, without any download, and lets this process's
 * containers use it.
 *
 * @returns why not, otherwise
 */
export function testEngine(): TestEngine | string {
  if (!onPath('podman')) return 'podman is not installed: apt-get install --no-install-recommends podman runc';
  const folder = mkdtempSync(join(tmpdir(), 'grpo-native-podman-'));
  const root = join(folder, 'image');
  fillRoot(root);
  // Podman raises limits, and some machines let nobody do so; crun knows no machine with both versions of control groups.
  writeFileSync(
    join(folder, 'containers.conf'),
    `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
${onPath('runc') ? 'runtime = "runc"' : ''}
`,
  );
  writeFileSync(
    join(folder, 'storage.conf'),
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/store"\nrunroot = "${folder}/run"\n`,
  );
  process.env.CONTAINERS_CONF = join(folder, 'containers.conf');
  process.env.CONTAINERS_STORAGE_CONF = join(folder, 'storage.conf');
  const image = 'localhost/grpo-native-test';
  const remove = (): void => {
    output('podman', ['rmi', '--force', image]);
    // The store holds mounts and files of other users.
    output('podman', ['system', 'reset', '--force']);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const archive = join(folder, 'image.tar');
    output('tar', ['-C', root, '--owner=0', '--group=0', '-cf', archive, '.']);
    output('podman', ['import', archive, image]);
    output('podman', ['run', '--rm', '--network', 'none', image, PYTHON, '-c', 'print(1)']);
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    remove();
    return `podman runs no container here: ${(stderr ?? String(error)).trim()}`;
  }
  const containers = (): string[] =>
    output('podman', ['ps', '--all', '--format', '{{.Names}}'])
      .split('\n')
      .filter((name) => name !== '');
  return { image, containers, remove };
}
