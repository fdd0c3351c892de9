import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EvaluationRecord, StepMetrics } from '../../lib/index.js';
import { emptyFolder, runExample } from './run-example.js';

const folder = emptyFolder();
test.after(() => rmSync(folder, { recursive: true, force: true }));

const lines = <T>(file: string): T[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

test('the example with an environment of its own learns to search, on tasks it was not trained on too', () => {
  const printed = runExample(folder, 'own-environment.js');
  assert.match(printed, /RL \(multi-tool\)/);
  const [run, ...others] = readdirSync(join(folder, 'runs'));
  assert.equal(others, []);
  const at = (name: string) => join(folder, 'runs', run!, name);
  const steps = lines<StepMetrics>(at('metrics.jsonl'));
  const first = steps[0]!;
  const last = steps.at(-1)!;
  assert.is(steps.length, 20);
  assert.ok(last.reward_mean! > first.reward_mean! + 0.3, `${first.reward_mean} -> ${last.reward_mean}`);
  assert.ok(last['tool_search_rate']! > first['tool_search_rate']! + 0.3);
  const evaluations = lines<EvaluationRecord>(at('evaluations.jsonl'));
  const [before, after] = [evaluations[0]!, evaluations.at(-1)!];
  assert.is(before.split, 'held-out');
  assert.ok(after.reward_mean! > before.reward_mean! + 0.3, `${before.reward_mean} -> ${after.reward_mean}`);
  for (const name of ['adapter/adapter_model.safetensors', 'report.html']) assert.ok(existsSync(at(name)), name);
});

test.run();
