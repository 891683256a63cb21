"""Calls in the forms of the model families, and their meaning.

The texts are made: they have the form that the makers' templates and model cards show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engines.types import Tool

WEATHER: Final = Tool(
    "get_weather",
    "The weather of a town",
    {
        "type": "object",
        "properties": {
            "town": {"type": "string"},
            "days": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["town"],
    },
)
CLOCK: Final = Tool("clock", "The time", {"type": "object", "properties": {}})
TOOLS: Final = (WEATHER, CLOCK)

BONN: Final[tuple[str, dict[str, Any]]] = ("get_weather", {"town": "Bonn"})
COLOGNE: Final[tuple[str, dict[str, Any]]] = ("get_weather", {"town": "Köln", "days": 3})


@dataclass(frozen=True)
class CallSample:
    """The text of a model with calls in a format.

    Attributes:
        form: The name of the format.
        text: The text.
        calls: Names and arguments of the calls.
        answer: The text beside the calls.
        ids: The ids, if the format has them.
    """

    form: str
    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    answer: str = ""
    ids: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.form}: {self.text[:20]!r}"


CALL_SAMPLES: Final = (
    CallSample(
        "hermes",
        'One moment. <tool_call>\n{"name": "get_weather", "arguments": {"town": "Köln", "days": 3}}'
        '\n</tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": {"town": "Bonn"}}\n'
        "</tool_call>",
        (COLOGNE, BONN),
        "One moment. ",
    ),
    CallSample(
        "hermes",
        '<tool_call>\n{"arguments": {"town": "Bonn"}, "name": "get_weather"}\n</tool_call>',
        (BONN,),
    ),
    CallSample(
        "hermes",
        '<tool_call>[{"name": "get_weather", "arguments": "{\\"town\\": \\"Bonn\\"}"}, '
        '{"name": "clock"}]</tool_call> There.',
        (BONN, ("clock", {})),
        "There.",
    ),
    CallSample(
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"town": "Bonn"}</tool_call>',
        (BONN,),
    ),
    CallSample(
        "hermes",
        '<tool_call>{"type": "function", "function": {"name": "get_weather", "parameters": '
        '{"town": "a\nb \\"c\\" </tool_call> d"}}}</tool_call>',
        (("get_weather", {"town": 'a\nb "c" </tool_call> d'}),),
    ),
    CallSample(
        "qwen_xml",
        "I look.\n\n<tool_call>\n<function=get_weather>\n<parameter=town>\nKöln\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n"
        "<function=clock>\n</function>\n</tool_call>",
        (COLOGNE, ("clock", {})),
        "I look.\n\n",
    ),
    CallSample(
        "qwen_xml",
        "<function=get_weather>\n<parameter=town>\n\n<b>\n\n</parameter>\n<parameter=tags>\n"
        '["a", "b"]\n</parameter>\n</function>\n</tool_call>',
        (("get_weather", {"town": "\n<b>\n", "tags": ["a", "b"]}),),
    ),
    CallSample(
        "qwen_xml",
        '<tool_call>\n{"name": "get_weather", "arguments": {"town": "Bonn"}}\n</tool_call>',
        (BONN,),
    ),
    CallSample(
        "glm",
        "<tool_call>get_weather\n<arg_key>town</arg_key>\n<arg_value>Köln</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n<tool_call>clock\n"
        "</tool_call>",
        (COLOGNE, ("clock", {})),
    ),
    CallSample(
        "glm",
        "<tool_call>get_weather<arg_key>town</arg_key><arg_value>Bonn</arg_value></tool_call>",
        (BONN,),
    ),
    CallSample(
        "gemma",
        '<|tool_call>call:get_weather{days:3,town:<|"|>Köln<|"|>}<tool_call|>'
        '<|tool_call>call:get_weather{town:<|"|>B}<tool_call|>, "n"<|"|>,tags:[<|"|>a<|"|>, '
        '<|"|>b<|"|>]}<tool_call|>',
        (
            ("get_weather", {"days": 3, "town": "Köln"}),
            ("get_weather", {"town": 'B}<tool_call|>, "n"', "tags": ["a", "b"]}),
        ),
    ),
    CallSample(
        "function_gemma",
        "<start_function_call>call:get_weather{town:<escape>Bonn<escape>}<end_function_call>",
        (BONN,),
    ),
    CallSample(
        "mistral_named",
        '[TOOL_CALLS]get_weather[ARGS]{"town": "Köln", "days": 3}'
        '[TOOL_CALLS]get_weather[CALL_ID]aBc123xyZ[ARGS]{"town": "Bonn"}',
        (COLOGNE, BONN),
        ids=("call_1", "aBc123xyZ"),
    ),
    CallSample(
        "mistral",
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"town": "Köln", "days": 3}}, '
        '{"name": "get_weather", "arguments": {"town": "Bonn"}, "id": "abc"}]',
        (COLOGNE, BONN),
    ),
    CallSample(
        "deepseek_v3",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        '{"town": "Köln", "days": 3}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function'
        '<｜tool▁sep｜>get_weather\n```json\n{"town": "Bonn"}\n```<｜tool▁call▁end｜>'
        "<｜tool▁calls▁end｜>",
        (COLOGNE, BONN),
    ),
    CallSample(
        "deepseek_v31",
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"town": "Bonn"}'
        "<｜tool▁call▁end｜><｜tool▁call▁begin｜>clock<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>",
        (BONN, ("clock", {})),
    ),
    CallSample(
        "deepseek_v32",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter '
        'name="town" string="true">Köln</｜DSML｜parameter>\n<｜DSML｜parameter name="days" '
        'string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="clock">\n'
        "</｜DSML｜invoke>\n"
        "</｜DSML｜function_calls>",
        (COLOGNE, ("clock", {})),
    ),
    CallSample(
        "deepseek_v4",
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="town" '
        'string="true">Bonn</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
        (BONN,),
    ),
    CallSample(
        "kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"town": "Köln", "days": 3}<|tool_call_end|>'
        "<|tool_call_begin|>functions.clock:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>",
        (COLOGNE, ("clock", {})),
        ids=("functions.get_weather:0", "functions.clock:1"),
    ),
    CallSample(
        "kimi_k3",
        '<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument '
        'key="town" type="string"<|sep|>Köln<|close|>argument<|sep|><|open|>argument key="days" '
        'type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
        (COLOGNE,),
    ),
    CallSample(
        "solar",
        "<|tool_calls|><|tool_call:begin|>a1<|tool_call:name|>get_weather<|tool_call:args|>"
        '{"town": "Bonn"}<|tool_call:end|><|tool_call:begin|>b2<|tool_call:name|>clock'
        "<|tool_call:args|>{}<|tool_call:end|>",
        (BONN, ("clock", {})),
        ids=("a1", "b2"),
    ),
    CallSample(
        "seed",
        "<seed:tool_call>\n<function=get_weather>\n<parameter=town>Köln</parameter>\n"
        "<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
        (COLOGNE,),
    ),
    CallSample(
        "minimax_m3",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<town>Köln'
        "]<]minimax[>[</town>]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>\n"
        ']<]minimax[>[<invoke name="clock">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
        (COLOGNE, ("clock", {})),
    ),
    CallSample(
        "minimax_m2",
        '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="town">Köln</parameter>'
        '\n<parameter name="days">3</parameter>\n</invoke>\n<invoke name="clock">\n</invoke>\n'
        "</minimax:tool_call>",
        (COLOGNE, ("clock", {})),
    ),
    CallSample(
        "muse",
        '<atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="town">Bonn'
        "</atem:parameter>\n</atem:invoke>\n</atem:function_calls>",
        (BONN,),
    ),
    CallSample(
        "hunyuan",
        "<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n"
        "<arg_key:opensource>town</arg_key:opensource>\n<arg_value:opensource>Bonn"
        "</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>",
        (BONN,),
    ),
    CallSample(
        "minicpm",
        '<function name="get_weather"><param name="town">Köln</param><param name="days">3</param>'
        '</function>\n<function name="clock"></function>',
        (COLOGNE, ("clock", {})),
    ),
    CallSample(
        "command",
        '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": '
        '{"town": "Köln", "days": 3}},\n    {"tool_call_id": "1", "tool_name": "clock", '
        '"parameters": {}}\n]<|END_ACTION|>',
        (COLOGNE, ("clock", {})),
        ids=("0", "1"),
    ),
    CallSample(
        "command_r",
        'Action:\n```json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": {\n'
        '            "town": "Bonn"\n        }\n    }\n]\n```',
        (("get_weather", {"town": "Bonn"}),),
    ),
    CallSample(
        "nemotron",
        '<TOOLCALL>[{"name": "get_weather", "arguments": {"town": "Bonn"}}, {"name": "clock", '
        '"arguments": {}}]</TOOLCALL>',
        (BONN, ("clock", {})),
    ),
    CallSample(
        "apertus",
        '<|tools_prefix|>[{"get_weather": {"town": "Bonn"}}, {"clock": {}}]<|tools_suffix|>',
        (BONN, ("clock", {})),
    ),
    CallSample(
        "lfm2",
        "<|tool_call_start|>[get_weather(town='Köln', days=3), clock()]<|tool_call_end|>Wait.",
        (COLOGNE, ("clock", {})),
        "Wait.",
    ),
    CallSample(
        "lfm2_listed",
        '<|tool_call_start|>[get_weather("Bonn)\'", tags=["a"])]<|tool_call_end|>',
        (("get_weather", {"town": "Bonn)'", "tags": ["a"]}),),
    ),
    CallSample(
        "phi",
        '<|tool_call|>[{"name": "get_weather", "arguments": {"town": "Bonn"}}]<|/tool_call|>',
        (BONN,),
    ),
    CallSample(
        "phi",
        'functools[{"name": "get_weather", "arguments": {"town": "Bonn"}}]',
        (BONN,),
    ),
    CallSample(
        "functools",
        'Yes. functools[{"name": "clock", "arguments": {}}]',
        (("clock", {}),),
        "Yes. ",
    ),
    CallSample(
        "granite",
        '<|tool_call|>[{"name": "get_weather", "arguments": {"town": "Bonn"}}, {"name": "clock", '
        '"arguments": {}}]',
        (BONN, ("clock", {})),
    ),
    CallSample(
        "gigachat",
        '<|function_call|>{"name": "get_weather", "arguments": {"town": "Bonn"}}',
        (BONN,),
    ),
    CallSample(
        "gigachat_role",
        "<|message_sep|>\n\nfunction call<|role_sep|>\n"
        '{"name": "get_weather", "arguments": {"town": "Bonn"}}',
        (BONN,),
    ),
    CallSample(
        "functionary",
        '<function=get_weather>{"town": "Bonn"}</function><function=clock>{}</function>',
        (BONN, ("clock", {})),
    ),
    CallSample(
        "functionary_lines",
        'all\nI look.\n>>>get_weather\n{"town": "Bonn"}>>>clock\n{}',
        (BONN, ("clock", {})),
        "I look.\n",
    ),
    CallSample(
        "functionary_lines",
        'get_weather\n{"town": "Bonn"}',
        (BONN,),
    ),
    CallSample(
        "tool_calls",
        '<tool_calls>\n{"name": "get_weather", "arguments": {"town": "Bonn"}}\n{"name": "clock", '
        '"arguments": {}}\n</tool_calls>',
        (BONN, ("clock", {})),
    ),
    CallSample(
        "tool_calls",
        '<tool_calls>[{"name": "get_weather", "arguments": {"town": "Bonn"}, "id": "x"}]'
        "</tool_calls>",
        (BONN,),
    ),
    CallSample(
        "llama3",
        '{"name": "get_weather", "parameters": {"town": "Köln", "days": 3}}',
        (COLOGNE,),
    ),
    CallSample(
        "llama3",
        '<|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"town": "Bonn"}};'
        ' {"name": "clock", "parameters": {}}',
        (BONN, ("clock", {})),
    ),
    CallSample(
        "llama4",
        ' {"name": "get_weather", "parameters": {"town": "Bonn"}}',
        (BONN,),
    ),
    CallSample(
        "llama4_python",
        '[get_weather(town="Bonn"), clock()]',
        (BONN, ("clock", {})),
    ),
    CallSample(
        "llama4_python",
        '<|python_start|>[get_weather(town="Bonn")]<|python_end|>',
        (BONN,),
    ),
)
"""Samples, each with the name of its format in `engines.dialect.formats`."""

TEXTS: Final = (
    ("hermes", "a < b and <tool"),
    ("hermes", "<tool_call>no JSON</tool_call>"),
    ("hermes", '<tool_call>{"arguments": {}}</tool_call> and more'),
    ("hermes", "<tool_call>[1]</tool_call>"),
    ("hermes", "The marker is <tool_call>."),
    ("qwen_xml", "A <function=get_weather and no more"),
    ("glm", "Between <tool_call> and </tool_call> stands a call."),
    ("gemma", "<|tool_call>call: somebody"),
    ("mistral_named", "[TOOL_CALLS] stands before a call, and [ARGS] behind its name."),
    ("mistral", "[TOOL_CALLS] [1, 2]"),
    ("llama3", '{"city": "Bonn", "name": "get_weather"}'),
    ("llama3", '{"name": "Bonn", "parameters": {}}'),
    ("llama4_python", "[link](https://example.org)"),
    ("llama4_python", "[1, 2, 3]"),
    ("functools", "functools.partial(print)"),
    ("functionary_lines", "Yes, it is.\n>>> print(1)\n1\n"),
    ("lfm2", "<|tool_call_start|>[print('x' 3)]<|tool_call_end|>"),
)
"""Answers without calls, as a model of each format could write them."""
