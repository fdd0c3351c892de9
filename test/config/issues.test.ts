import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  configKeys,
  evaluateSchema,
  resolveEvaluateConfig,
  resolveTrainConfig,
  trainSchema,
} from '../../lib/config/index.js';
import { describeIssues } from '../../lib/config/issues.js';
import { sftSchema } from '../../lib/config/sft-schema.js';

function messageOf(resolve: (input: never) => unknown, input: unknown): string {
  try {
    resolve(input as never);
  } catch (error) {
    assert.is((error as { code?: string }).code, 'INVALID_CONFIG');
    return (error as Error).message.replace('[config] ', '');
  }
  throw new Error(`no error for ${JSON.stringify(input)}`);
}
const train = (input: unknown) => messageOf(resolveTrainConfig, input);

test('a wrong value names the key, what it must be and what was given', () => {
  const cases: [unknown, string][] = [
    [{ groupSize: 1 }, 'groupSize must be a whole number >= 2, but got 1'],
    [{ steps: 1.5 }, 'steps must be a whole number >= 0, but got 1.5'],
    [{ steps: 'ten' }, 'steps must be a whole number >= 0, but got "ten"'],
    [{ topP: 0 }, 'topP must be a number > 0 and <= 1, but got 0'],
    [{ temperature: NaN }, 'temperature must be a number > 0, but got NaN'],
    [{ lora: { rank: 2000 } }, 'lora.rank must be a whole number >= 1 and <= 1024, but got 2000'],
    [{ quiet: 'yes' }, 'quiet must be true or false, but got "yes"'],
    [{ model: '' }, 'model must be a text that is not empty, but got ""'],
    [{ loss: 3 }, 'loss must be an object of keys and values, but got 3'],
    [{ optimizer: { betas: [0.9, 1] } }, 'optimizer.betas must be two numbers >= 0 and < 1, but got [0.9,1]'],
    [{ device: 'gpu' }, 'device must be auto, cpu, cuda or cuda:N, but got "gpu"'],
    [{ environment: 3 }, 'environment must be code-agent, the path of a module, or an environment, but got 3'],
    [{ tools: [] }, 'tools must be a list of one or more tools or names of tools, but got []'],
  ];
  for (const [input, message] of cases) assert.is(train(input), message);
  assert.is(
    messageOf(resolveEvaluateConfig, { k: [1, 0] }),
    'k must be a whole number >= 1, or a list of them, but got [1,0]',
  );
});

test('a wrong choice names the nearest one', () => {
  assert.is(
    train({ dtype: 'bfloat' }),
    'dtype must be auto, float32 or bfloat16, but got "bfloat"; did you mean bfloat16?',
  );
  assert.match(
    train({ lora: { targetModules: ['q_proj', 'vv_proj'] } }),
    /^lora\.targetModules must be a list of one or more of q_proj, .*, but got \["q_proj","vv_proj"\]; did you mean v_proj\?$/,
  );
});

test('several wrong keys are told together, each once', () => {
  assert.is(
    train({ steps: -1, lora: { targetModules: ['a', 'b'] } })
      .split('; ')
      .filter((part) => part.includes('must be')).length,
    2,
  );
});

test('every key of every schema is told in these words', () => {
  for (const schema of [trainSchema, evaluateSchema, sftSchema]) {
    for (const { path } of configKeys(schema)) {
      const wrong = [null, -1, ''].map((value) =>
        path.split('.').reduceRight<unknown>((node, name) => ({ [name]: node }), value),
      );
      const results = wrong.map((given) => ({ given, issues: schema.safeParse(given).error?.issues ?? [] }));
      const { given, issues } = results.find((result) => result.issues.length > 0)!;
      assert.ok(describeIssues(issues, given, schema).startsWith(`${path} must be `), path);
    }
  }
});

test.run();
