import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const program = fileURLToPath(new URL('interrupted-run.ts', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  code: number | null;
  folder: string;
  stderr: string;
}

/** Starts the run, sends the signals once it samples, and waits for its end. */
async function interrupted(wait: number, ...signals: NodeJS.Signals[]): Promise<Ended> {
  return interruptedAfter(300, wait, ...signals);
}

async function interruptedAfter(delayMs: number, wait: number, ...signals: NodeJS.Signals[]): Promise<Ended> {
  const folder = join(mkdtempSync(join(tmpdir(), 'grpo-signal-')), 'run');
  const child = spawn(process.execPath, ['--import', 'tsx', program, folder, String(wait)], { cwd: root });
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  let sent = false;
  child.stdout.on('data', () => {
    if (sent) return;
    sent = true;
    signals.forEach((signal, index) => setTimeout(() => child.kill(signal), delayMs + 300 * index));
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, folder, stderr };
}

const cleanUp = ({ folder }: Ended) => rmSync(join(folder, '..'), { recursive: true, force: true });

test('Ctrl-C ends after the present step, saves the adapter and leaves with 130', async () => {
  const ended = await interrupted(5, 'SIGINT');
  assert.is(ended.code, 130, ended.stderr);
  assert.match(ended.stderr, /stopping/);
  assert.ok(existsSync(join(ended.folder, 'adapter', 'adapter_config.json')));
  const text = readFileSync(join(ended.folder, 'metrics.jsonl'), 'utf8');
  const steps = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { step: number }).step);
  assert.equal(
    steps,
    Array.from({ length: steps.length }, (_, index) => index + 1),
  );
  cleanUp(ended);
});

test('SIGTERM does the same and leaves with 143', async () => {
  const ended = await interrupted(5, 'SIGTERM');
  assert.is(ended.code, 143, ended.stderr);
  assert.ok(existsSync(join(ended.folder, 'adapter', 'adapter_config.json')));
  cleanUp(ended);
});

const loggedSteps = ({ folder }: Ended): number => {
  const file = join(folder, 'metrics.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).length : 0;
};

test('after Ctrl-C a long step ends first; after SIGTERM, whose sender soon kills, it is dropped and the run saved', async () => {
  // Episodes take 7 s, all at the same time: the evaluation first, then the step in which the signals come.
  const inStep = (signal: NodeJS.Signals) => interruptedAfter(8000, 7000, signal);
  const [patient, hurried] = await Promise.all([inStep('SIGINT'), inStep('SIGTERM')]);
  assert.is(patient.code, 130, patient.stderr);
  assert.is(loggedSteps(patient), 1);
  assert.is(hurried.code, 143, hurried.stderr);
  assert.is(loggedSteps(hurried), 0);
  for (const ended of [patient, hurried]) {
    assert.ok(existsSync(join(ended.folder, 'adapter', 'adapter_config.json')));
    cleanUp(ended);
  }
});

test('a second Ctrl-C leaves at once', async () => {
  const started = Date.now();
  const ended = await interrupted(60_000, 'SIGINT', 'SIGINT');
  assert.is(ended.code, 130, ended.stderr);
  assert.ok(Date.now() - started < 15_000);
  assert.not(existsSync(join(ended.folder, 'adapter')));
  cleanUp(ended);
});

test.run();
