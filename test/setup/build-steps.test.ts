import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildSteps } from '../../lib/setup/build-steps.js';

test('the newest count of ninja and of make is found, and nothing else', () => {
  assert.equal(buildSteps('[1/85] Building CXX\n[12/85] Linking\n'), { done: 12, total: 85 });
  assert.equal(buildSteps('[  3%] Building CXX\n[ 14%] Building CXX\n'), { done: 14, total: 100 });
  assert.equal(buildSteps('info [3/4] is no step\nwarning: x[1/2]\n'), undefined);
});

test.run();
