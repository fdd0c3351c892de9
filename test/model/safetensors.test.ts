import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readSafetensors } from '../../lib/model/safetensors.js';
import { writeSafetensors } from '../../lib/model/safetensors-writer.js';
import { fixturePath, rejects, safetensorsBytes, temporaryFolder } from './fixture-folder.js';

test('a header gives every tensor with its absolute place', async () => {
  const path = join(fixturePath('llama-tiny'), 'model.safetensors');
  const { bytes, tensors, metadata } = await readSafetensors(path, { file: 3 });
  assert.is(bytes, 715016);
  assert.equal(metadata, { format: 'pt' });
  assert.is(tensors.size, 30);
  assert.equal(tensors.get('lm_head.weight'), {
    file: 3,
    dtype: 'F32',
    shape: [307, 64],
    offset: 3080,
    byteLength: 307 * 64 * 4,
  });
});

const entry = (begin: number, end: number, dtype = 'F32') => ({
  dtype,
  shape: [(end - begin) / 4],
  data_offsets: [begin, end],
});
const FAULTS: [string, Buffer, RegExp][] = [
  ['a file of five bytes', Buffer.alloc(5), /is cut: 5 bytes/],
  ['a text file', Buffer.from('version https://git-lfs.github.com/spec/v1'), /is no safetensors file/],
  ['a file that ends in its header', safetensorsBytes({ a: entry(0, 8) }, 8).subarray(0, 20), /its header needs/],
  ['a header that is not JSON', safetensorsBytes('{"a": ', 0), /not valid JSON/],
  ['a header that is a list', safetensorsBytes('[]', 0), /not a JSON object/],
  ['metadata that is not text', safetensorsBytes({ __metadata__: { a: 1 } }, 0), /__metadata__/],
  ['an unknown dtype', safetensorsBytes({ a: entry(0, 8, 'F31') }, 8), /tensor "a" has the unknown dtype "F31"/],
  ['a negative size', safetensorsBytes({ a: { dtype: 'F32', shape: [-1], data_offsets: [0, 4] } }, 4), /valid shape/],
  ['offsets that are no pair', safetensorsBytes({ a: { dtype: 'F32', shape: [1], data_offsets: [0] } }, 4), /offsets/],
  [
    'bytes that do not fit the shape',
    safetensorsBytes({ a: { dtype: 'F32', shape: [2, 3], data_offsets: [0, 20] } }, 20),
    /tensor "a" \(F32, shape \[2, 3\]\) needs 24 bytes, has 20/,
  ],
  [
    'missing data',
    safetensorsBytes({ a: entry(0, 8), b: entry(8, 16) }, 12),
    /is cut: tensor "b" ends at byte 16 of 12/,
  ],
  ['data nobody claims', safetensorsBytes({ a: entry(0, 8) }, 12), /has 4 bytes after its last tensor/],
  ['overlapping tensors', safetensorsBytes({ a: entry(0, 8), b: entry(4, 12) }, 12), /tensor "b" overlaps/],
  ['a hole', safetensorsBytes({ a: entry(0, 8), b: entry(12, 16) }, 16), /bytes 8 to 12, before tensor "b"/],
  [
    'a name given twice',
    safetensorsBytes(`{"a": ${JSON.stringify(entry(0, 8))}, "a": ${JSON.stringify(entry(8, 16))}}`, 16),
    /bytes 0 to 8, before tensor "a", belong to no tensor/,
  ],
];
for (const [name, bytes, message] of FAULTS) {
  test(`${name} is refused`, async () => {
    const path = join(temporaryFolder(), 'model.safetensors');
    writeFileSync(path, bytes);
    await rejects(readSafetensors(path), 'INVALID_MODEL', message);
    await rejects(readSafetensors(path, { code: 'INVALID_ADAPTER' }), 'INVALID_ADAPTER', /model\.safetensors/);
  });
}

test('a missing file is refused by name', async () => {
  await rejects(readSafetensors('/nowhere/model.safetensors'), 'INVALID_MODEL', /\/nowhere\/model.safetensors cannot/);
});

test('what is written is read back: names, shapes, metadata and every byte', async () => {
  const path = join(temporaryFolder(), 'out.safetensors');
  const b = new Float32Array([1.5, -2, 3.25, 4, 5, 6]);
  const a = new Uint16Array([0x3f80, 0x4000, 0x4040]);
  const tensors = [
    { name: 'a', dtype: 'BF16', shape: [3], data: a },
    { name: 'b', dtype: 'F32', shape: [2, 3], data: async () => b },
    { name: 'empty', dtype: 'F32', shape: [0, 4], data: new Float32Array(0) },
  ];
  await writeSafetensors(path, tensors, { format: 'pt', step: '7' });
  const file = await readSafetensors(path);
  assert.equal(file.metadata, { format: 'pt', step: '7' });
  const bytesOf = (name: string) => {
    const { offset, byteLength } = file.tensors.get(name)!;
    return readFileSync(path).subarray(offset, offset + byteLength);
  };
  assert.equal([...bytesOf('b')], [...new Uint8Array(b.buffer)]);
  assert.equal([...bytesOf('a')], [...new Uint8Array(a.buffer)]);
  assert.equal(file.tensors.get('b')!.shape, [2, 3]);
  assert.equal(file.tensors.get('empty')!.shape, [0, 4]);
  assert.is(file.tensors.get('b')!.offset % 4, 0);
  assert.equal(readdirSync(join(path, '..')), ['out.safetensors']);
});

test('a write that fails leaves the older file and no temporary file', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'out.safetensors');
  writeFileSync(path, 'older');
  const short = [{ name: 'a', dtype: 'F32', shape: [3], data: new Float32Array(2) }];
  await rejects(writeSafetensors(path, short), 'INTERNAL', /tensor "a" has 8 bytes, its shape needs 12/);
  const twice = [0, 1].map(() => ({ name: 'a', dtype: 'F32', shape: [1], data: new Float32Array(1) }));
  await rejects(writeSafetensors(path, twice), 'INTERNAL', /two tensors are named "a"/);
  assert.is(readFileSync(path, 'utf8'), 'older');
  assert.equal(readdirSync(folder), ['out.safetensors']);
  const good = [{ name: 'a', dtype: 'F32', shape: [1], data: new Float32Array(1) }];
  await rejects(writeSafetensors(join(folder, 'no/such/file'), good), 'IO_FAILED', /cannot be written/);
});

test.run();
