import { readFile } from 'node:fs/promises';
import { gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import path from 'node:path';
import { GrpoError } from '../../errors.js';
import { packageFolder } from '../../package-folder.js';

/** One symbol of an index. */
export interface DocumentationEntry {
  /** As programs write it: `os.path.join`, `str.strip`, `sorted`. */
  name: string;
  /** How it is called, '' for modules. */
  signature: string;
  /** Its docstring, cut after about 1400 characters. */
  text: string;
  /** What it is for, in plain words; '' for most. */
  hint: string;
  /** 0..1: how much the standard library itself uses it. */
  weight: number;
}

/** A documentation index as `build_index.py` writes it. */
export interface DocumentationData {
  /** Python version that was read. */
  python: string;
  licence: string;
  /** Installed packages that were read -> version. */
  packages: Record<string, string>;
  entries: DocumentationEntry[];
}

/** Folder of the documentation files, in the package as in the sources: `dist/` has none. */
export function documentationFolder(): string {
  return path.join(packageFolder(), 'lib', 'tools', 'documentation');
}

/** The index of the Python standard library that comes with the package. */
export function shippedIndexPath(): string {
  return path.join(documentationFolder(), 'data', 'python-stdlib.json.gz');
}

/**
 * Reads an index file.
 *
 * @throws IO_FAILED where the file can't be read, INVALID_ARGUMENT where it is no index
 */
export async function loadDocumentation(file: string): Promise<DocumentationData> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw new GrpoError('IO_FAILED', 'documentation', `can't read the index ${file}: run 'grpo-native docs index'`, {
      cause,
    });
  }
  try {
    const plain = file.endsWith('.gz') ? await promisify(gunzip)(bytes) : bytes;
    return fromJson(JSON.parse(plain.toString('utf8')));
  } catch (cause) {
    throw new GrpoError(
      'INVALID_ARGUMENT',
      'documentation',
      `${file} is not a documentation index: make it again with 'grpo-native docs index'`,
      { cause },
    );
  }
}

function fromJson(value: unknown): DocumentationData {
  const data = value as { version: number; python: string; licence: string; packages: Record<string, string> };
  const rows = (value as { entries: [string, string, string, string, number][] }).entries;
  if (data.version !== 1 || typeof data.python !== 'string' || !Array.isArray(rows)) {
    throw new TypeError(`version 1 expected, found ${String(data.version)}`);
  }
  return {
    python: data.python,
    licence: data.licence,
    packages: data.packages,
    entries: rows.map(([name, signature, text, hint, weight]) => ({ name, signature, text, hint, weight })),
  };
}
