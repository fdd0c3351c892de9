import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { randomNumbers } from '../../lib/algorithms/random.js';
import {
  createCallFormat,
  CALL_FORMATS,
  toolPrompt,
  type CallFormatName,
} from '../../lib/environments/formats/index.js';
import { createTagFormat } from '../../lib/environments/formats/tags.js';

const tools = [
  {
    name: 'add',
    description: 'Adds.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' }, note: { type: 'string' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
  },
  {
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
  },
];
const hermes = createCallFormat('hermes', { tools });
const xml = createCallFormat('qwen-xml', { tools });
const llama = createCallFormat('llama-json', { tools });
const wrap = (json: string) => `<tool_call>\n${json}\n</tool_call>`;

test('hermes: all calls of a turn run in order', () => {
  const text = `Let me see.\n${wrap('{"name": "look", "arguments": {"at": "x"}}')}\n${wrap('{"name": "add", "arguments": {"a": 1, "b": 2.5}}')}`;
  assert.equal(hermes.parse(text), {
    calls: [
      { tool: 'look', args: { at: 'x' } },
      { tool: 'add', args: { a: 1, b: 2.5 } },
    ],
    malformed: [],
  });
});

test('hermes: one bad call of two leaves the good one', () => {
  const text = `${wrap('{"name": "add", "arguments": {"a": "1", "b": 2}}')}${wrap('{"name": "look", "arguments": {"at": "x"}}')}`;
  const parsed = hermes.parse(text);
  assert.equal(parsed.calls, [{ tool: 'look', args: { at: 'x' } }]);
  assert.equal(parsed.malformed, ["arguments of 'add': /a must be number"]);
});

test('hermes: bad calls are messages, never calls with made-up arguments', () => {
  const cases: [string, RegExp][] = [
    [wrap('{}'), /no tool name/],
    [wrap('{"name": 1}'), /no tool name/],
    [wrap('[]'), /no tool name/],
    [wrap('null'), /no tool name/],
    [wrap('{"name": "add"}'), /must be a JSON object/],
    [wrap('{"name": "add", "arguments": {}}'), /required property 'a'/],
    [wrap('{"name": "add", "arguments": {"a": 1, "b": 2, "c": 3}}'), /additional properties/],
    [wrap('{"name": "sub", "arguments": {}}'), /there is no tool 'sub': the tools are add, look/],
    [wrap('{"name": "look", "arguments": {"at": "x'), /not valid JSON/],
    ['<tool_call>\n{"name": "look", "arguments": {"at": "x', /cut off/],
  ];
  for (const [text, message] of cases) {
    const parsed = hermes.parse(text);
    assert.equal(parsed.calls, [], text);
    assert.is(parsed.malformed.length, 1, text);
    assert.match(parsed.malformed[0]!, message);
  }
});

test('hermes: a call inside thinking is no call', () => {
  const call = wrap('{"name": "look", "arguments": {"at": "x"}}');
  assert.equal(hermes.parse(`<think>${call}</think>${call}`).calls.length, 1);
  assert.equal(hermes.parse(`<think>${call}</think>${call}`).malformed, []);
  for (const text of [`<think>${call}`, `<think>${call}</think>So be it.`]) {
    assert.equal(hermes.parse(text), {
      calls: [],
      malformed: ['a call inside of thinking is not run: write it after </think>'],
    });
  }
  assert.equal(xml.parse('<think><tool_call><function=add></think>').malformed.length, 1);
  assert.equal(hermes.parse('<think>hm</think>No call.'), { calls: [], malformed: [] });
  const opened = createCallFormat('hermes', { tools, startsInThinking: true });
  assert.equal(opened.parse(`${call}</think>${call}`).calls.length, 1);
});

test('hermes: a closing tag inside a JSON string does not end the call', () => {
  assert.equal(hermes.parse(wrap('{"name": "look", "arguments": {"at": "a </tool_call> b"}}')).calls, [
    { tool: 'look', args: { at: 'a </tool_call> b' } },
  ]);
});

test('hermes: a call that was never closed does not swallow the next one', () => {
  const text = `<tool_call>{"name": "look"\n${wrap('{"name": "look", "arguments": {"at": "x"}}')}`;
  const parsed = hermes.parse(text);
  assert.equal(parsed.calls, [{ tool: 'look', args: { at: 'x' } }]);
  assert.is(parsed.malformed.length, 1);
});

test('hermes: a made-up response ends the turn, and nothing after it counts', () => {
  const text = `${wrap('{"name": "look", "arguments": {"at": "x"}}')}\n<tool_response>`;
  assert.is(hermes.isComplete(text), true);
  assert.equal(
    hermes.parse(`${text}ok</tool_response>${wrap('{"name": "look", "arguments": {"at": "y"}}')}`).calls.length,
    1,
  );
});

test('hermes: observations are tool messages, errors among them', () => {
  const call = { tool: 'look', args: { at: 'x' } };
  assert.equal(hermes.observe([{ call, output: { text: 'seen' } }], ['the call has no tool name']), [
    { role: 'tool', name: 'look', content: 'seen' },
    { role: 'tool', content: 'ERROR: the call has no tool name' },
  ]);
});

test('hermes: the tool prompt holds every schema', () => {
  const text = toolPrompt('hermes', tools);
  const lines = text.slice(text.indexOf('\n<tools>\n') + 9, text.indexOf('\n</tools>\n')).split('\n');
  const schemas = lines.map((line) => JSON.parse(line) as { function: { name: string } });
  assert.equal(
    schemas.map((schema) => schema.function.name),
    ['add', 'look'],
  );
});

test('qwen-xml: values follow the schema, text stays text', () => {
  const text = `<tool_call>
<function=add>
<parameter=a>
1
</parameter>
<parameter=b>
2.5
</parameter>
<parameter=note>
12
</parameter>
</function>
</tool_call>`;
  assert.equal(xml.parse(text), { calls: [{ tool: 'add', args: { a: 1, b: 2.5, note: '12' } }], malformed: [] });
});

test('qwen-xml: wrong types, cut calls and unknown forms are messages', () => {
  const call = (inner: string) => `<tool_call><function=add>${inner}</function></tool_call>`;
  assert.match(
    xml.parse(call('<parameter=a>one</parameter><parameter=b>2</parameter>')).malformed[0]!,
    /'a' of 'add'.*number/,
  );
  assert.match(xml.parse(call('<parameter=a>1</parameter>')).malformed[0]!, /required property 'b'/);
  assert.match(xml.parse(call('<parameter=a>1')).malformed[0]!, /not closed/);
  assert.match(xml.parse(call('<parameter=a>1</parameter><parameter=a>2</parameter>')).malformed[0]!, /given twice/);
  assert.match(xml.parse('<tool_call><function=add>').malformed[0]!, /cut off/);
  assert.match(xml.parse('<tool_call>{"name": "add"}</tool_call>').malformed[0]!, /must have the form/);
});

test('llama-json: one object or several, with the python tag or without', () => {
  const one = '{"name": "look", "parameters": {"at": "a;b}"}}';
  const two = '{"name": "add", "parameters": {"a": 1, "b": 2}}';
  assert.equal(llama.parse(one).calls, [{ tool: 'look', args: { at: 'a;b}' } }]);
  assert.equal(
    llama.parse(`<|python_tag|>${one}; ${two}`).calls.map(({ tool }) => tool),
    ['look', 'add'],
  );
  assert.equal(llama.parse('The answer is 4.'), { calls: [], malformed: [] });
  assert.match(llama.parse('{"name": "look", "parameters": {"at": "x').malformed[0]!, /not valid JSON/);
  assert.match(llama.parse('{"name": "look", "parameters": {"at": 4}}').malformed[0]!, /must be string/);
});

test('an unknown format names the known ones', () => {
  assert.throws(
    () => createCallFormat('xml' as CallFormatName, { tools }),
    /there is no call format 'xml': use one of hermes/,
  );
});

test('random cuts and splices of calls never throw, and every call fits its schema', () => {
  const seeds: Record<CallFormatName, string> = {
    hermes: `<think>no</think>${wrap('{"name": "add", "arguments": {"a": 1, "b": [2, {"c": "\\"}"}]}}')}${wrap('{"name": "look", "arguments": {"at": "</tool_call>"}}')}`,
    'qwen-xml': '<tool_call><function=add><parameter=a>1</parameter><parameter=b>2</parameter></function></tool_call>',
    'llama-json':
      '<|python_tag|>{"name": "add", "parameters": {"a": 1, "b": 2}};{"name": "look", "parameters": {"at": "x"}}',
  };
  const random = randomNumbers(11);
  for (const name of Object.keys(CALL_FORMATS) as CallFormatName[]) {
    const format = createCallFormat(name, { tools });
    const seed = seeds[name];
    for (let round = 0; round < 4000; round++) {
      const cut = () => Math.floor(random() * (seed.length + 1));
      const text = seed.slice(0, cut()) + seed.slice(cut()) + (random() < 0.3 ? seed.slice(cut()) : '');
      for (const { tool, args } of format.parse(text).calls) {
        if (tool === 'add') assert.ok(typeof args['a'] === 'number' && typeof args['b'] === 'number', text);
        else assert.ok(tool === 'look' && typeof args['at'] === 'string', text);
      }
      assert.type(format.isComplete(text), 'boolean');
    }
  }
});

test('a reply of one mark over and over is read in time that grows with its length', () => {
  const marks = [
    '<search>',
    '<think></think>',
    '<tool_call>',
    '<tool_call>{',
    '```python\n',
    '</tool_call>',
    '{"a":',
    '<function=add>',
  ];
  const formats = [createTagFormat(), hermes, xml, llama];
  const longestMs = (length: number) =>
    Math.max(
      ...formats.flatMap((format) =>
        marks.map((mark) => {
          const text = mark.repeat(length / mark.length);
          const times = [0, 1, 2].map(() => {
            const started = performance.now();
            format.parse(text);
            format.isComplete(text);
            return performance.now() - started;
          });
          return Math.min(...times);
        }),
      ),
    );
  longestMs(10_000);
  // Eight times the text; quadratic time would be 64 times as long.
  assert.ok(longestMs(160_000) < 32 * Math.max(longestMs(20_000), 5));
});

test.run();
