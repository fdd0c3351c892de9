import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../model/durable-write.js';
import { packageFolder } from '../package-folder.js';

/** This package's version. */
export function packageVersion(): string {
  const text = readFileSync(join(packageFolder(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

const nameOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'name' in value ? value.name : value;

/** What `config.json` of a run holds: the effective configuration, versions, machine. */
export function configRecord(config: Record<string, unknown>, extra: Record<string, unknown>): Record<string, unknown> {
  const named = Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      if (key === 'environment') return [key, nameOf(value)];
      if (key === 'tools' || key === 'rewards') return [key, Array.isArray(value) ? value.map(nameOf) : value];
      return [key, value];
    }),
  );
  return {
    config: named,
    ...extra,
    workingFolder: process.cwd(),
    versions: { 'grpo-native': packageVersion(), node: process.versions.node },
    machine: {
      platform: `${process.platform}-${process.arch}`,
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryBytes: totalmem(),
    },
  };
}

/** Writes `config.json`. */
export async function writeConfigFile(folder: string, record: Record<string, unknown>): Promise<void> {
  const text = `${JSON.stringify(record, undefined, 2)}\n`;
  await replaceFile(join(folder, 'config.json'), (handle) => handle.writeFile(text));
}
