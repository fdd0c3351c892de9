import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A new empty folder. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'grpo-libtorch-'));
}

/** Writes files, given as relative path -> text. */
export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** What a CPU wheel holds, with text in place of libraries. */
export function torchFiles(version = '2.13.0+cpu', cuda = 'None'): Record<string, string> {
  return {
    'torch/version.py': `from typing import Optional\n__version__ = '${version}'\ncuda: Optional[str] = ${cuda}\n`,
    'torch/lib/libc10.so': 'c10',
    'torch/lib/libtorch_cpu.so': 'cpu '.repeat(50_000),
    'torch/lib/libgomp.so.1': 'gomp',
    'torch/lib/libtorch_python.so': 'python',
    'torch/include/ATen/Tensor.h': '// tensor',
    'torch/nn/__init__.py': '',
    'torch-2.13.0.dist-info/METADATA': 'Name: torch\nRequires-Dist: filelock\n',
  };
}

/** Zips files into a wheel, uncompressed, and returns its path. */
export function makeWheel(path: string, files: Record<string, string>): string {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  execFileSync('python3', ['-m', 'zipfile', '-c', path, ...readdirSync(folder)], { cwd: folder });
  return path;
}

export function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** A folder to use as PATH: only the named programs, and a python3 that is the given shell script. */
export function programFolder(programs: string[], python3?: string): string {
  const folder = temporaryFolder();
  for (const name of programs) {
    symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(folder, name));
  }
  if (python3 !== undefined) {
    writeFileSync(join(folder, 'python3'), `#!/bin/sh\n${python3}\n`);
    chmodSync(join(folder, 'python3'), 0o755);
  }
  return folder;
}
