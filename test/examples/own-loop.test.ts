import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyFolder, runExample } from './run-example.js';

const folder = emptyFolder();
test.after(() => rmSync(folder, { recursive: true, force: true }));

test('the loop by hand raises its reward and saves an adapter', () => {
  const rewards = [
    ...runExample(folder, 'own-loop.js').matchAll(/^step \d+ {2}reward (\S+) {2}gradient norm (\S+)$/gm),
  ];
  assert.is(rewards.length, 20);
  const [first, last] = [Number(rewards[0]![1]), Number(rewards.at(-1)![1])];
  assert.ok(last > first + 0.3, `${first} -> ${last}`);
  assert.ok(existsSync(join(folder, 'my-adapter/adapter_model.safetensors')));
});

test('its adapter passes more of the unseen tasks of the demo, and the evaluation prints the table', () => {
  const printed = runExample(folder, 'evaluate-adapter.js', 'my-adapter');
  const rates = [...printed.matchAll(/^(Baseline|RL) \((.*)\) +(\S+) %/gm)].map(([, weights, mode, rate]) => ({
    row: `${weights} (${mode})`,
    rate: Number(rate),
  }));
  assert.equal(
    rates.map(({ row }) => row),
    ['Baseline (no tools)', 'Baseline (code only)', 'Baseline (multi-tool)', 'RL (no tools)', 'RL (multi-tool)'],
  );
  const rateOf = (wanted: string) => rates.find(({ row }) => row === wanted)!.rate;
  const gain = rateOf('RL (multi-tool)') - rateOf('Baseline (multi-tool)');
  assert.ok(gain > 20, `${gain} points`);
  assert.match(printed, new RegExp(`^tool-learning gain +\\+${gain.toFixed(1).replace('.', '\\.')} points$`, 'm'));
  assert.match(printed, /^searches where needed (0\.[89]\d*|1), elsewhere [\d.]+$/m);
});

test.run();
