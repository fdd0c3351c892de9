import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { correctiveLine, createTagFormat, lastCodeBlock } from '../../lib/environments/formats/tags.js';
import { randomNumbers } from '../../lib/algorithms/random.js';

const format = createTagFormat();
const python = (code: string) => `\`\`\`python\n${code}\n\`\`\``;

test('a search tag is a call with its trimmed query', () => {
  assert.equal(format.parse('I look it up. <search> csv reader </search>'), {
    calls: [{ tool: 'search', args: { query: 'csv reader' } }],
    malformed: [],
  });
});

test('fences named python, py and nothing execute, submit submits', () => {
  for (const [info, tool] of [
    ['python', 'execute'],
    ['py', 'execute'],
    ['', 'execute'],
    ['submit', 'submit'],
  ]) {
    const { calls } = format.parse(`Text\n\`\`\`${info}\nx = 1\nprint(x)\n\`\`\``);
    assert.equal(calls, [{ tool, args: { code: 'x = 1\nprint(x)' } }], info);
  }
});

test('other fences are no calls, and their closing line opens nothing', () => {
  const text = '```json\n{"a": 1}\n```\nand\n```bash\nls\n```\n';
  assert.equal(format.parse(text), { calls: [], malformed: [] });
  assert.equal(format.parse(`${text}${python('print(1)')}`).calls, [{ tool: 'execute', args: { code: 'print(1)' } }]);
});

test('the first complete call ends the turn: what follows it is ignored', () => {
  const text = `${python('print(1)')}\n<exec_result>\n1\n</exec_result>\n<search>x</search>\n${python('print(2)')}`;
  assert.equal(format.parse(text).calls, [{ tool: 'execute', args: { code: 'print(1)' } }]);
  assert.equal(format.parse(`<search>a</search><search>b</search>`).calls, [{ tool: 'search', args: { query: 'a' } }]);
});

test('the opening line of a fence is no closing line', () => {
  assert.is(format.isComplete('Text\n```'), false);
  assert.is(format.isComplete('Text\n```python'), false);
  assert.is(format.isComplete('Text\n```python\nprint(1)\n'), false);
  assert.is(format.isComplete('Text\n```python\nprint(1)\n```'), true);
  assert.is(format.isComplete('<search>x'), false);
  assert.is(format.isComplete('<search>x</search>'), true);
});

test('backticks inside a line of code do not close the fence', () => {
  const code = 'text = """\n    ```\n"""\nprint("```")';
  assert.equal(format.parse(python(code)).calls, [{ tool: 'execute', args: { code } }]);
});

test('a fence inside thinking is no call', () => {
  const thought = `<think>Maybe ${'\n'}${python('print(1)')}\n<search>x</search></think>`;
  assert.equal(format.parse(thought).calls, []);
  assert.is(format.isComplete(thought), false);
  assert.equal(format.parse(`${thought}\n${python('print(2)')}`).calls, [
    { tool: 'execute', args: { code: 'print(2)' } },
  ]);
  assert.equal(format.parse(`<think>\n${python('print(1)')}`).calls, [], 'thinking that never ends');
});

test('a turn whose only call stands in thinking is told so, and the call is not run', () => {
  const told = { calls: [], malformed: ['a call inside of thinking is not run: write it after </think>'] };
  for (const text of [
    `<think>\n${python('print(1)')}\n</think>So be it.`,
    '<think>I look it up: <search>csv</search></think>',
    `Hm. <think>\n${python('print(1)')}`,
    '<think>One.</think><think>\n```submit\nx = 1\n```\n</think>',
  ]) {
    assert.equal(format.parse(text), told, text);
    assert.is(format.isComplete(text), false);
  }
  assert.equal(createTagFormat({ startsInThinking: true }).parse(python('print(1)')), told);
  for (const text of [
    '<think>A fence ```python opens.</think>Done.',
    '<think>\n```python\n\n```\n</think>Done.',
    '<think>\n```json\n{}\n```\n</think>Done.',
    '<think>\n```python\nx = 1\n</think>Done.',
  ]) {
    assert.equal(format.parse(text), { calls: [], malformed: [] }, text);
  }
  const codeOnly = createTagFormat({ tools: ['execute', 'submit'] });
  assert.equal(codeOnly.parse('<think><search>x</search></think>'), { calls: [], malformed: [] });
  assert.equal(createTagFormat({ tools: [] }).parse(`<think>\n${python('x')}</think>`).malformed, []);
  const [answer] = format.observe([], told.malformed);
  assert.match(answer!.content, /^A call inside of thinking is not run: .*Write <search>QUERY<\/search>/);
});

test('think tags in a fence are code', () => {
  const code = 'text = "<think>"\n# </think>';
  assert.equal(format.parse(python(code)).calls, [{ tool: 'execute', args: { code } }]);
});

test('where the template opened the thinking, everything before </think> is thinking', () => {
  const opened = createTagFormat({ startsInThinking: true });
  assert.equal(opened.parse(python('print(1)')).calls, []);
  assert.equal(opened.parse(`${python('print(1)')}\n</think>\n${python('print(2)')}`).calls, [
    { tool: 'execute', args: { code: 'print(2)' } },
  ]);
});

test('an empty call and an unclosed fence are malformed, never made up', () => {
  assert.equal(format.parse('<search>  </search>'), { calls: [], malformed: ['the call was empty'] });
  assert.equal(format.parse('```submit\n```'), { calls: [], malformed: ['the call was empty'] });
  assert.equal(format.parse('```submit\ndef f():'), {
    calls: [],
    malformed: ['the fence was not closed by a line ```'],
  });
  assert.equal(format.parse('<search>abc'), { calls: [], malformed: ['<search> was not closed'] });
});

test('an unclosed search tag hides no fence', () => {
  const text = `I could <search> but no.\n${python('print(1)')}\n</search>`;
  assert.equal(format.parse(text).calls, [{ tool: 'execute', args: { code: 'print(1)' } }]);
});

test('a format without search takes no search call and names two forms', () => {
  const codeOnly = createTagFormat({ tools: ['execute', 'submit'] });
  assert.equal(codeOnly.parse('<search>x</search>'), { calls: [], malformed: [] });
  assert.equal(codeOnly.stop, ['\n```']);
  assert.is(
    correctiveLine(['execute', 'submit']),
    'No call was found. Write a fence opened by a line ```python to run code, or a fence opened by a line ```submit to submit the solution; a line ``` closes a fence.',
  );
});

test('observations stand between their tags, each on a line of its own', () => {
  const observe = (tool: string, text: string, note?: string) =>
    format.observe([{ call: { tool, args: {} }, output: { text, note } }], []);
  assert.equal(observe('search', 'sorted(x)'), [{ role: 'user', content: '<doc_result>\nsorted(x)\n</doc_result>' }]);
  assert.equal(observe('execute', '1\n2'), [{ role: 'user', content: '<exec_result>\n1\n2\n</exec_result>' }]);
  assert.equal(observe('submit', 'FAIL: 1', 'Mend it.'), [
    { role: 'user', content: '<test_result>\nFAIL: 1\n</test_result>\nMend it.' },
  ]);
});

test('a malformed call is answered by one line that names the three forms', () => {
  const [message] = format.observe([], ['the call was empty']);
  assert.is(message?.content.split('\n').length, 1);
  assert.match(message!.content, /^The call was empty\. Write <search>QUERY<\/search> .*```python.*```submit/);
});

test('windows line ends are read as line ends', () => {
  assert.equal(format.parse('```python\r\nprint(1)\r\nprint(2)\r\n```\r\n').calls, [
    { tool: 'execute', args: { code: 'print(1)\nprint(2)' } },
  ]);
});

test('the last closed block is graded, and a cut one only where none is closed', () => {
  assert.is(lastCodeBlock(['```python\na = 1\n```\n```submit\nb = 2\n```', 'done']), 'b = 2');
  assert.is(lastCodeBlock(['```python\na = 1\n```', '```python\nb = 2']), 'a = 1');
  assert.is(lastCodeBlock(['text', '```python\nb = 2']), 'b = 2');
  assert.is(lastCodeBlock(['```json\n{}\n```']), undefined);
  assert.is(lastCodeBlock(['<think>\n```python\na = 1\n```\n</think>']), undefined);
});

test('random texts: parsing never throws, and a call once complete stays the same whatever follows', () => {
  const pieces = [
    '```',
    '```python',
    '```submit',
    '```json',
    '\n',
    '\n```\n',
    '<search>',
    '</search>',
    '<think>',
    '</think>',
    'x = 1',
    ' ',
    '`',
    '\r\n',
    '````',
    'é🙂',
  ];
  const random = randomNumbers(7);
  const pick = () => pieces[Math.floor(random() * pieces.length)]!;
  let completed = 0;
  for (let round = 0; round < 5000; round++) {
    let text = '';
    for (let length = 0; length < 14; length++) {
      text += pick();
      if (!format.isComplete(text)) continue;
      const parsed = format.parse(text);
      assert.is(parsed.calls.length + parsed.malformed.length, 1);
      assert.equal(format.parse(`${text}\n${pick()}${pick()}\n${pick()}`), parsed, JSON.stringify(text));
      completed += 1;
      break;
    }
    format.parse(text);
  }
  assert.ok(completed > 500, `${completed} completed`);
});

test.run();
