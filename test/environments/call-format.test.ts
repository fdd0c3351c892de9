import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { environmentFor, withCallFormat } from '../../lib/environments/adapt.js';
import { codeAgent } from '../../lib/environments/code-agent/index.js';
import { defineEnvironment } from '../../lib/environments/define-environment.js';
import { detectCallFormat } from '../../lib/environments/formats/index.js';
import type { Environment } from '../../lib/environments/types.js';
import { load, llama3, qwen3 } from '../tokenizer/checks.js';
import { checkEpisodes } from './episode-checks.js';
import { FakeSandbox } from './fake-sandbox.js';
import { withTemplate } from './scripted-policy.js';
import { LLAMA_TEMPLATE, THINKING_TEMPLATE, XML_TEMPLATE } from './templates.js';

const own = (extra: object = {}) =>
  defineEnvironment({
    name: 'sums',
    tasks: [{ id: 'one', prompt: '1 + 1?' }],
    tools: [
      {
        name: 'add',
        description: 'Adds.',
        parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
        run: () => '2',
      },
    ],
    rewards: [{ name: 'right', score: () => 1 }],
    prompt: (task) => [{ role: 'user', content: task.prompt }],
    ...extra,
  });
const agent = (extra: object = {}) =>
  codeAgent({
    tasks: [{ id: 'one', prompt: 'Write add.', test: 'assert add(1, 2) == 3' }],
    sandbox: new FakeSandbox(),
    documentation: { search: () => [] },
    ...extra,
  });
const system = (environment: Environment) => environment.prompt(environment.tasks[0]!)[0]!.content;

test('the call format is read from what a template renders', async () => {
  assert.equal(detectCallFormat(await load(qwen3)), { format: 'hermes', startsInThinking: false });
  assert.equal(detectCallFormat(await load(llama3)), { format: undefined, startsInThinking: false });
  assert.equal(detectCallFormat(await withTemplate(qwen3, XML_TEMPLATE)), {
    format: 'qwen-xml',
    startsInThinking: false,
  });
  assert.is(detectCallFormat(await withTemplate(llama3, LLAMA_TEMPLATE)).format, 'llama-json');
  assert.equal(detectCallFormat(await withTemplate(qwen3, THINKING_TEMPLATE)), {
    format: undefined,
    startsInThinking: true,
  });
});

test('an environment of your own speaks the template’s format, and tells its tools where the template does not', async () => {
  const qwen = environmentFor(own(), await load(qwen3));
  assert.equal([qwen.format.name, qwen.toolsInTemplate], ['hermes', true]);
  assert.is(qwen.prompt(qwen.tasks[0]!).length, 1);
  const xml = environmentFor(own(), await withTemplate(qwen3, XML_TEMPLATE));
  assert.equal([xml.format.name, xml.toolsInTemplate], ['qwen-xml', true]);
  const llama = environmentFor(own(), await load(llama3));
  assert.equal([llama.format.name, llama.toolsInTemplate], ['hermes', false]);
  assert.match(system(llama), /"name":"add"[^]*<tool_call>/);
});

test('a format that was named holds whatever the template says', async () => {
  const tokenizer = await load(qwen3);
  for (const environment of [own({ format: 'llama-json' }), withCallFormat(own(), 'llama-json')]) {
    const spoken = environmentFor(environment, tokenizer);
    assert.equal([spoken.format.name, spoken.toolsInTemplate], ['llama-json', false]);
    assert.match(system(spoken), /"name":"add"[^]*"parameters": \{"PARAMETER"/);
  }
});

test('tools called search, execute and submit may be spoken in tags, in the words of the environment', async () => {
  const search = {
    name: 'search',
    description: 'Finds.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    run: () => 'found',
  };
  for (const environment of [
    own({ tools: [search], format: 'tags' }),
    withCallFormat(own({ tools: [search] }), 'tags'),
  ]) {
    const spoken = environmentFor(environment, await load(qwen3));
    assert.equal([spoken.format.name, spoken.toolsInTemplate], ['tags', false]);
    assert.equal(spoken.prompt(spoken.tasks[0]!), [{ role: 'user', content: '1 + 1?' }]);
    assert.equal(spoken.format.parse('<search>it</search>').calls, [{ tool: 'search', args: { query: 'it' } }]);
    assert.equal(spoken.format.parse('```submit\nx\n```').calls, []);
  }
  const thinking = environmentFor(
    own({ tools: [search], format: 'tags' }),
    await withTemplate(qwen3, THINKING_TEMPLATE),
  );
  assert.equal(thinking.format.parse('<search>no</search>').calls, []);
  const tokenizer = await load(qwen3);
  assert.throws(
    () => environmentFor(withCallFormat(own(), 'tags'), tokenizer),
    /tool add has no tag: set callFormat to/,
  );
  assert.throws(() => own({ format: 'tags' }), /tool add has no tag/);
});

test('the code agent keeps the reference format unless told otherwise', async () => {
  const tokenizer = await load(qwen3);
  assert.is(environmentFor(agent(), tokenizer).format.name, 'tags');
  const spoken = environmentFor(agent({ callFormat: 'auto' }), tokenizer);
  assert.equal([spoken.format.name, spoken.toolsInTemplate], ['hermes', true]);
  assert.match(system(spoken), /three tools: search, execute and submit[^]*\{"name":"submit","arguments":\{"code":/);
  assert.not.match(system(spoken), /```/);
  assert.is(environmentFor(agent({ callFormat: 'auto' }), await load(llama3)).format.name, 'tags');
  assert.throws(() => agent({ callFormat: 'json' }), /callFormat must be one of auto, tags, hermes/);
});

test('a mode without tools has no calls in any format', async () => {
  const spoken = environmentFor(agent({ callFormat: 'hermes', mode: 'no-tools' }), await load(qwen3));
  assert.equal(spoken.format.parse('```submit\nx\n```'), { calls: [], malformed: [] });
  assert.match(system(spoken), /with one reply/);
});

test('thinking that the template opens is no place for calls', async () => {
  const { format } = environmentFor(agent(), await withTemplate(qwen3, THINKING_TEMPLATE));
  assert.equal(format.parse('<search>no</search>').calls, []);
  assert.is(format.parse('<search>no</search></think><search>yes</search>').calls[0]!.args['query'], 'yes');
});

test('one call in another format: observations keep their tags, in the role of a tool', async () => {
  const { format } = environmentFor(agent({ callFormat: 'hermes' }), await load(qwen3));
  const call = { tool: 'execute', args: { code: 'x' } };
  assert.equal(format.observe([{ call, output: { text: '1' } }], ['cut']), [
    { role: 'tool', name: 'execute', content: '<exec_result>\n1\n</exec_result>' },
    { role: 'tool', content: 'ERROR: cut' },
  ]);
});

test('episodes of the code agent read as the whole conversation, in every format', async () => {
  await checkEpisodes(await load(qwen3), 'tags', 'tags', 12);
  await checkEpisodes(await load(qwen3), 'auto', 'hermes', 12);
  await checkEpisodes(await load(llama3), 'auto', 'tags', 12);
  await checkEpisodes(await load(llama3), 'hermes', 'hermes', 8);
  await checkEpisodes(await withTemplate(qwen3, XML_TEMPLATE), 'auto', 'qwen-xml', 12);
  await checkEpisodes(await withTemplate(llama3, LLAMA_TEMPLATE), 'auto', 'llama-json', 12);
});

test.run();
