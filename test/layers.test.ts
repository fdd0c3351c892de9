import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = join(import.meta.dirname, '..');
const filesOf = (folder: string, pattern: RegExp) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => pattern.test(path));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const NATIVE = filesOf('native', /\.(h|cc|cu)$/);
const SOURCES = [...filesOf('lib', /\.ts$/), ...filesOf('bin', /\.ts$/)];

/** Project files of other folders that a C++ file includes, relative to native/. */
const includes = (path: string) => [...read(path).matchAll(/^#include "([^"]+\/[^"]+)"/gm)].map(([, name]) => name!);

/** Project files that a TypeScript file imports for their values; types alone bind nothing at run time. */
const imports = (path: string) =>
  [...read(path).matchAll(/^(?:import|export)\s+(?!type\b)[^;]*?from '(\.[^']+)';|import\('(\.[^']+)'\)/gms)].map(
    ([, fixed, late]) => normalize(join(dirname(path), fixed ?? late!)).replace(/\.js$/, '.ts'),
  );

const layerOf = (path: string) => path.split('/')[1]!;

test('only binding/ and the loader know Node-API', () => {
  const knowing = NATIVE.filter((path) => /^#include [<"](napi|node_api|js_native_api|uv)\.h/m.test(read(path)));
  assert.equal(
    knowing.filter((path) => !/^native\/(binding|loader)\//.test(path)),
    [],
  );
  assert.ok(knowing.length > 0);
});

test('native layers include only what lies below them', () => {
  // engine lies beside training, and shares its model: sampler and trainer are one.
  const allowed: Record<string, string[]> = {
    loader: [],
    kernels: [],
    model: ['kernels'],
    training: ['model', 'kernels'],
    engine: ['model', 'kernels'],
    binding: ['engine', 'training', 'model', 'kernels'],
  };
  const exceptions = ['native/engine/engine.h -> training/model.h'];
  const upward = NATIVE.flatMap((path) =>
    includes(path)
      .filter((name) => name.split('/')[0] !== layerOf(path) && !allowed[layerOf(path)]?.includes(name.split('/')[0]!))
      .map((name) => `${path} -> ${name}`),
  );
  assert.equal(
    upward.filter((edge) => !exceptions.includes(edge)),
    [],
  );
});

test('only binding, libtorch and setup know where native code lies', () => {
  const knowing = SOURCES.filter((path) =>
    /build\/Release|prebuilds|\.node['"`]|node-gyp-build|process\.dlopen|libtorch_cpu/.test(read(path)),
  );
  assert.equal(
    knowing.filter((path) => !/^lib\/(binding\.ts|libtorch\/|setup\/)/.test(path)),
    [],
  );
  assert.ok(knowing.length > 0);
});

/** From the bottom; a layer imports only from lines above its own. */
const ORDER = [
  ['errors.ts', 'addon-types.ts'],
  ['import-failure.ts', 'known-keys.ts', 'package-folder.ts', 'terminal'],
  ['libtorch', 'algorithms', 'model', 'sandbox'],
  ['binding.ts', 'tokenizer'],
  ['setup', 'policy', 'data'],
  ['tools', 'rewards'],
  ['environments'],
  ['rollout', 'config'],
  ['run'],
  ['loggers', 'report'],
  ['launch'],
  ['evaluate', 'bench'],
  ['trainer'],
  ['index.ts'],
];
const rank = new Map(ORDER.flatMap((layers, index) => layers.map((layer): [string, number] => [layer, index])));

test('every part of lib/ has a place in the order of layers', () => {
  assert.equal(
    readdirSync(join(root, 'lib')).filter((name) => !rank.has(name)),
    [],
  );
});

test('parts of lib/ import only what lies below them', () => {
  const upward = SOURCES.filter((path) => path.startsWith('lib/')).flatMap((path) =>
    imports(path)
      .filter((target) => layerOf(target) !== layerOf(path))
      .filter((target) => rank.get(layerOf(target))! >= rank.get(layerOf(path))!)
      .map((target) => `${path} -> ${target}`),
  );
  assert.equal(upward, []);
});

test('algorithms and rewards are pure: nothing of Node, nothing that acts', () => {
  const acting = SOURCES.filter((path) => /^lib\/(algorithms|rewards)\//.test(path)).filter((path) =>
    /from 'node:|\bprocess\.|\bfetch\(|Math\.random|Date\.now/.test(read(path)),
  );
  assert.equal(acting, []);
});

test('no file waits at its top, so that require() works', () => {
  const awaits = (node: ts.Node): boolean => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) return false;
    return ts.isAwaitExpression(node) || (ts.forEachChild(node, awaits) ?? false);
  };
  const waiting = SOURCES.filter((path) => awaits(ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2022)));
  assert.equal(waiting, []);
});

test.run();
