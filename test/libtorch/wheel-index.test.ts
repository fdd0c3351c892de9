import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chooseWheel, parseWheelIndex } from '../../lib/libtorch/wheel-index.js';

const A = 'a'.repeat(64);
const PAGE = `<!DOCTYPE html><html><body><h1>Links for torch</h1>
<a href="/whl/cpu/torch-2.12.0%2Bcpu-cp310-cp310-manylinux_2_28_x86_64.whl#sha256=${'b'.repeat(64)}">old</a><br/>
<a href="/whl/cpu/torch-2.13.0%2Bcpu-cp312-cp312-manylinux_2_28_x86_64.whl#sha256=${A.toUpperCase()}" data-core-metadata="x">torch</a><br/>
<a data-x="1" href='/whl/cpu/torch-2.13.0%2Bcpu-cp310-cp310-manylinux_2_28_x86_64.whl#sha256=${A}'>torch</a><br/>
<a href="torch-2.13.0%2Bcpu-cp310-cp310-manylinux_2_28_aarch64.whl#sha256=${A}">arm</a>
<a href="torch-2.13.0%2Bcpu-cp310-cp310-win_amd64.whl">win</a>
<a href="https://other.example/torch-2.13.0%2Bcpu.tar.gz#sha256=${A}">source</a>
</body></html>`;

test('an index page gives names, absolute addresses and checksums', () => {
  const links = parseWheelIndex(PAGE, 'https://index.example/whl/cpu/torch/');
  assert.is(links.length, 5);
  assert.equal(links[1], {
    name: 'torch-2.13.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl',
    url: 'https://index.example/whl/cpu/torch-2.13.0%2Bcpu-cp312-cp312-manylinux_2_28_x86_64.whl',
    sha256: A,
  });
  assert.is(
    links[3]?.url,
    'https://index.example/whl/cpu/torch/torch-2.13.0%2Bcpu-cp310-cp310-manylinux_2_28_aarch64.whl',
  );
  assert.is(links[4]?.sha256, undefined);
});

test('the wheel of the wanted version and machine is chosen, whatever its Python', () => {
  const links = parseWheelIndex(PAGE, 'https://index.example/whl/cpu/torch/');
  assert.is(chooseWheel(links, '2.13.0+cpu', 'x86_64')?.name, 'torch-2.13.0+cpu-cp310-cp310-manylinux_2_28_x86_64.whl');
  assert.is(chooseWheel(links, '2.13.0', 'x86_64'), undefined);
  assert.is(chooseWheel(links, '2.14.0+cpu', 'x86_64'), undefined);
});

test.run();
