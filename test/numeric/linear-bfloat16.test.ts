import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadCore } from '../../lib/binding.js';
import { SKIPPED } from '../harness.js';

const core = await loadCore();

type Product = Parameters<typeof core.linearBfloat16>[1];
const FORMS = ['avx512bf16', 'amx'] as const;
/** Tails of every tile: outputs of 16, inputs of 32, odd inputs, fewer inputs than a tile, groups of 1 to 4 tiles and more. */
const SHAPES = [
  [1, 1],
  [5, 3],
  [16, 32],
  [17, 33],
  [33, 64],
  [48, 100],
  [63, 31],
  [64, 576],
  [80, 47],
  [113, 96],
  [201, 65],
] as const;

const wide = new Float32Array(1);
const word = new Uint32Array(wide.buffer);
const toFloat = (bits: number): number => ((word[0] = bits << 16), wide[0]!);
/** To the nearest, ties to even. */
const toBits = (value: number): number => {
  wide[0] = value;
  return (word[0]! + 0x7fff + ((word[0]! >>> 16) & 1)) >>> 16;
};

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}
const fill = (size: number, next: () => number) => Uint16Array.from({ length: size }, () => toBits(next()));

/** In float64, not rounded, and the sum of the magnitudes that were added. */
function exact(p: Product, row: number, output: number): { value: number; magnitude: number } {
  const inputs = p.x.length / p.rows;
  const outputs = p.y.length / p.rows;
  let sum = 0;
  let magnitude = 0;
  for (let i = 0; i < inputs; ++i) {
    const term = toFloat(p.x[row * inputs + i]!) * toFloat(p.w[output * inputs + i]!);
    sum += term;
    magnitude += Math.abs(term);
  }
  if (p.alpha !== undefined) {
    const before = toFloat(p.y[row * outputs + output]!);
    return { value: before + p.alpha * sum, magnitude: Math.abs(before) + Math.abs(p.alpha) * magnitude };
  }
  const bias = p.bias ? toFloat(p.bias[output]!) : 0;
  return { value: sum + bias, magnitude: magnitude + Math.abs(bias) };
}

/** Half a step of bfloat16 for the one rounding, and the float32 additions before it. */
function check(before: Product, y: Uint16Array, at: string): void {
  const outputs = y.length / before.rows;
  for (let row = 0; row < before.rows; ++row) {
    for (let output = 0; output < outputs; ++output) {
      const { value, magnitude } = exact(before, row, output);
      const found = toFloat(y[row * outputs + output]!);
      const bound = Math.abs(value) * 2 ** -8 + magnitude * 2 ** -20;
      assert.ok(Math.abs(found - value) <= bound, `${at}, row ${row}, output ${output}: ${found} against ${value}`);
    }
  }
}

const probe = (): Product => ({ x: Uint16Array.of(0), w: Uint16Array.of(0), y: Uint16Array.of(0), rows: 1 });
for (const form of ['portable', ...FORMS] as const) {
  if (!core.linearBfloat16(form, probe())) {
    console.log(`${SKIPPED} this processor has no ${form} instructions`);
    continue;
  }

  test(`${form}: products of bfloat16 are rounded once, whatever the tails, with a bias and added to what is there`, () => {
    const next = random(7);
    for (const [outputs, inputs] of SHAPES) {
      const w = fill(outputs * inputs, next);
      for (const rows of [1, 2, 5, 6, 7, 15, 16, 17, 32, 33, 48, 49, 70]) {
        const x = fill(rows * inputs, next);
        const bias = fill(outputs, next);
        for (const options of [{}, { bias }, { alpha: 0.37 }]) {
          const start = fill(rows * outputs, next);
          const y = start.slice();
          assert.ok(core.linearBfloat16(form, { x, w, y, rows, ...options }));
          check(
            { x, w, y: start, rows, ...options },
            y,
            `${outputs} x ${inputs}, ${rows} rows, ${Object.keys(options)[0]}`,
          );
        }
      }
    }
  });

  test(`${form}: a row's bits do not depend on the rows beside it, from 1 to 70 of them, nor are neighbours written`, () => {
    const next = random(11);
    for (const [outputs, inputs] of [
      [75, 83],
      [128, 160],
    ] as const) {
      const w = fill(outputs * inputs, next);
      const x = fill(70 * inputs, next);
      const all = new Uint16Array(70 * outputs);
      core.linearBfloat16(form, { x, w, y: all, rows: 70 });
      for (let rows = 1; rows < 70; ++rows) {
        const first = (rows * 7) % (70 - rows + 1);
        const memory = new Uint16Array((rows + 2) * outputs).fill(0x1234);
        const y = memory.subarray(outputs, (rows + 1) * outputs);
        core.linearBfloat16(form, { x: x.slice(first * inputs, (first + rows) * inputs), w, y, rows });
        assert.equal(y, all.subarray(first * outputs, (first + rows) * outputs), `${rows} rows from ${first} on`);
        assert.ok(
          memory.subarray(0, outputs).every((bits) => bits === 0x1234),
          `before, ${rows} rows`,
        );
        assert.ok(
          memory.subarray((rows + 1) * outputs).every((bits) => bits === 0x1234),
          `after, ${rows} rows`,
        );
      }
    }
  });
}

test.run();
