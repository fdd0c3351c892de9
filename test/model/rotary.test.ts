import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { JsonFields } from '../../lib/model/json-fields.js';
import { inverseFrequencies, readRotary } from '../../lib/model/rotary.js';

interface Case {
  name: string;
  headDim: number;
  rope: Record<string, unknown>;
  inverseFrequencies: number[];
}

const path = new URL('../fixtures/rotary.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: Case[] };

for (const { name, headDim, rope, inverseFrequencies: expected } of cases) {
  test(`inverse frequencies of ${name} are transformers' float32 numbers`, () => {
    const fields = new JsonFields('config.json', { rope_parameters: rope }, 'INVALID_MODEL');
    const found = inverseFrequencies(headDim, readRotary(fields, 131072));
    assert.is(found.length, headDim / 2);
    let different = 0;
    for (const [i, value] of expected.entries()) {
      // torch's vector pow may differ from the correctly rounded one in the last bit (2^-23 relative, twice at most).
      assert.ok(Math.abs(found[i]! - value) <= 2 ** -22 * value, `${name} [${i}]: ${found[i]} against ${value}`);
      if (found[i] !== value) different++;
    }
    assert.ok(different <= expected.length / 4, `${different} of ${expected.length} frequencies differ`);
  });
}

test.run();
