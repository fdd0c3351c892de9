/** A chat template in the manner of Qwen3-Coder: XML calls, tool answers in user turns. */
export const XML_TEMPLATE = `{%- if messages[0].role == 'system' %}{%- set system = messages[0].content %}{%- else %}{%- set system = '' %}{%- endif %}
{%- if tools %}{{ '<|im_start|>system\\n' + system + '\\n\\nFunctions:\\n' }}{%- for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{%- endfor %}{{ 'Call them so:\\n<tool_call>\\n<function=NAME>\\n<parameter=KEY>\\nVALUE\\n</parameter>\\n</function>\\n</tool_call><|im_end|>\\n' }}
{%- elif system %}{{ '<|im_start|>system\\n' + system + '<|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'assistant' %}{{ '<|im_start|>assistant\\n' + message.content }}
{%- if message.tool_calls %}{%- for call in message.tool_calls %}{{ '<tool_call>\\n<function=' + call.function.name + '>\\n' }}{%- for key, value in call.function.arguments | items %}{{ '<parameter=' + key + '>\\n' + value + '\\n</parameter>\\n' }}{%- endfor %}{{ '</function>\\n</tool_call>' }}{%- endfor %}{%- endif %}{{ '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}{{ '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- elif message.role == 'user' %}{{ '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}`;

/** A chat template in the manner of Llama 3.1: one JSON object a call, the answers in turns of their own. */
export const LLAMA_TEMPLATE = `{{- bos_token }}
{%- for message in messages %}
{%- if message.role == 'system' %}{{ '<|start_header_id|>system<|end_header_id|>\\n\\n' + message.content }}
{%- if tools %}{{ '\\n\\nRespond in the format {"name": function name, "parameters": dictionary of argument name and its value}.\\n\\n' }}{%- for tool in tools %}{{ tool | tojson }}{{ '\\n\\n' }}{%- endfor %}{%- endif %}{{ '<|eot_id|>' }}
{%- elif message.role == 'tool' %}{{ '<|start_header_id|>ipython<|end_header_id|>\\n\\n' + message.content + '<|eot_id|>' }}
{%- elif message.tool_calls %}{%- set call = message.tool_calls[0].function %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n{"name": "' + call.name + '", "parameters": ' + (call.arguments | tojson) + '}<|eot_id|>' }}
{%- else %}{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' + message.content + '<|eot_id|>' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}`;

/** A template without tools whose assistant header opens thinking. */
export const THINKING_TEMPLATE = `{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{%- endif %}`;
