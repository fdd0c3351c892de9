import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Message } from '../../lib/environments/types.js';
import { Origin } from '../../lib/tokenizer/marks.js';
import { ChatTemplate, type RenderOptions } from '../../lib/tokenizer/template.js';
import { strftime } from '../../lib/tokenizer/template-globals.js';

const user = (content: string): Message => ({ role: 'user', content });

function template(text: string): ChatTemplate {
  return new ChatTemplate([{ name: 'default', template: text }], { bos_token: '<s>' }, (value) => value.includes('<|'));
}

function render(text: string, messages: Message[], options: RenderOptions = {}): string {
  return template(text).render(messages, options).text;
}

/** The rendered text with contents in brackets. */
function bracketed(text: string, messages: Message[]): string {
  const { text: out, origins } = template(text).render(messages);
  let shown = '';
  for (let i = 0; i < out.length; i++) {
    const inside = origins[i] !== Origin.template;
    if (inside && (i === 0 || origins[i - 1] === Origin.template)) shown += '[';
    shown += out[i] as string;
    if (inside && (i + 1 === out.length || origins[i + 1] === Origin.template)) shown += ']';
  }
  return shown;
}

// Expected values by Jinja2 3.1.6 as transformers sets it up (brackets around contents are ours).
const CASES: [template: string, content: string, expected: string][] = [
  ['{{ m.strip("\\n") }}|', '\n\n a \n', '[ a ]|'],
  ['{{ m.lstrip("\\n") }}|', '\n  x\n', '[  x\n]|'],
  ['{{ m.strip() }}|', '\x1c\u0085 a\ufeff \u3000', '[a\ufeff]|'],
  ['{{ m | trim }}|', ' <b> ', '[<b>]|'],
  ['{{ m | trim("<>") }}|', '<b>', '[b]|'],
  ['{{ m.split("</t>")[-1].lstrip("\\n") }}|{{ m.split("</t>")[0].split("<t>")[-1] }}', '<t>a</t>\nb', '[b]|[a]'],
  ['{{ m.split(",", 1)[1] }}', 'a,b,c', '[b,c]'],
  ['{{ m.split() | join("+") }}', ' a  b ', '[a]+[b]'],
  ['{{ m.replace("a", "<x>") }}', 'banana', '[b]<x>[n]<x>[n]<x>'],
  ['{{ m.replace("a", "", 1) }}', 'banana', '[bnana]'],
  ['{{ m.startswith("a") }}{{ m.endswith(("x", "b")) }}', 'ab', 'TrueTrue'],
  ['{% if "b" in m and m != "b" and "z" not in m %}yes{% endif %}', 'abc', 'yes'],
  ['{% if m == "user" %}same{% endif %}', 'user', 'same'],
  ['{{ m | tojson }}', 'a"b\n</x>é', '"[a\\"b\\n</x>é]"'],
  ['{{ {"k": [m, 1]} | tojson }}', 'v', '{"k": ["[v]", 1]}'],
  ['{{ {"k": m} | tojson(indent=2) }}', 'v', '{\n  "k": "[v]"\n}'],
  ['{{ m | length }}{{ m[:2] }}|{{ m[-1] }}', 'abcd', '4[ab]|[d]'],
  ['{{ m | upper }}{{ m.title() }}{{ m | capitalize }}', 'ab cD', '[AB CDAb CdAb cd]'],
  ['{% set ns = namespace(x="") %}{% set ns.x = ns.x ~ m ~ "!" %}{{ ns.x }}', 'a', '[a]!'],
  ['{% macro f(t) %}<{{ t }}>{% endmacro %}{{ f(m) }}', 'a', '<[a]>'],
  ['{{ none }}{{ m ~ true }}{{ false | string }}', 'a', 'None[a]TrueFalse'],
  ['{{ m if m else "none" }}', '', 'none'],
  ['{{ bos_token + m }}', '<s>', '<s>[<s>]'],
];

for (const [text, content, expected] of CASES) {
  test(`${text} of ${JSON.stringify(content)}`, () => {
    assert.is(bracketed(`{% set m = messages[0].content %}${text}`, [user(content)]), expected);
  });
}

test('characters of the planes that marks use survive in contents', () => {
  const content = 'a\u{F0001}\u{10FFFD}\u{D0000}b';
  assert.is(bracketed('{{ messages[0].content.strip("ab") }}', [user(content)]), '[\u{F0001}\u{10FFFD}\u{D0000}]');
});

test('half a surrogate pair becomes U+FFFD', () => {
  assert.is(render('{{ messages[0].content }}', [user('a\ud83dz')]), 'a\uFFFDz');
});

test('blocks are trimmed as transformers does', () => {
  const text = '{% for m in messages %}\n    {% if true %}\n{{ m.content }}\n    {% endif %}\n{% endfor %}\n';
  assert.is(render(text, [user('a'), user('b')]), 'a\nb\n');
});

test('tools are null where there are none, and functions where there are', () => {
  const text = '{{ tools is none }} {{ tools is defined }} {{ tools | tojson }}';
  assert.is(render(text, [user('a')]), 'True True null');
  const tools = [{ name: 'f', description: 'd', parameters: { type: 'object' } }];
  const json =
    '[{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]';
  assert.is(render(text, [user('a')], { tools }), `False True ${json}`);
  const wrapped = [{ type: 'function' as const, function: tools[0] as (typeof tools)[0] }];
  assert.is(render(text, [user('a')], { tools: wrapped }), `False True ${json}`);
});

test('a template that changes contents beyond recognition is refused, never guessed at', () => {
  assert.throws(
    () => render('{% filter upper %}{{ messages[0].content }}{% endfilter %}', [user('abc')]),
    /changes contents in a way that cannot be followed/,
  );
});

test('the date is one for the whole call, in English', () => {
  const now = new Date(2024, 6, 4, 15, 5, 9);
  assert.is(strftime(now, '%d %b %Y %B %A %-d %I:%M:%S %p %y%%'), '04 Jul 2024 July Thursday 4 03:05:09 PM 24%');
  assert.is(render('{{ strftime_now("%Y-%m-%d") }}', [user('a')], { now }), '2024-07-04');
  assert.throws(() => strftime(now, '%Q'), /%Q is not supported/);
});

test('raise_exception is an error with its text', () => {
  assert.throws(
    () => render('{{ raise_exception("no " + messages[0].content) }}', [user('x')]),
    /refuses these messages: no x/,
  );
});

test('an error inside a template names it', () => {
  assert.throws(() => render('{{ messages[0].content.frobnicate() }}', [user('x')]), /the chat template failed/);
});

test.run();
