"""The markers that models write around their reasoning and their calls, one entry per format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from engines.text import SEAM


@dataclass(frozen=True)
class ReasoningFormat:
    """The markers that separate an answer from its reasoning.

    Attributes:
        opens: The markers before the reasoning, the usual spelling first.
        closes: The markers after the reasoning, the usual spelling first.
        lead: Text that a model writes after an opening marker before the reasoning begins.
        gap: Text that a model writes after a closing marker before the answer begins.
        wraps: The markers around the answer; a model may leave them out.
        tokens: The single tokens in these markers.
        prose: Whether the markers are words that anyone may write, so that they count only if the
            template mentions them.
        channels: Whether messages are in channels, as in the harmony format of gpt-oss.
        marked: Those of `tokens` that the vocabulary has; each comes with a SEAM before it, so that
            the same letters in other tokens are text.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    lead: str = ""
    gap: str = ""
    wraps: tuple[str, str] | None = None
    tokens: tuple[str, ...] = ()
    prose: bool = False
    channels: bool = False
    marked: frozenset[str] = frozenset()

    def opened(self, text: str) -> bool:
        """Return whether a prompt ends with an opening marker."""
        return text.rstrip().endswith(self.opens)

    @property
    def marks(self) -> frozenset[str]:
        """Every text in these markers that a template may look for."""
        return frozenset((*self.opens, *self.closes, *(self.wraps or ()), *self.tokens))

    @property
    def begin(self) -> str:
        """The text that begins the reasoning when the model does not begin it itself."""
        return self.opens[0] + self.lead

    @property
    def end(self) -> str:
        """The text that ends the reasoning and begins the answer."""
        return self.closes[0] + self.gap + (self.wraps[0] if self.wraps else "")

    def with_tokens(self, vocabulary: Iterable[str]) -> ReasoningFormat:
        """Return the format with a SEAM before each marker that is a token of the vocabulary."""
        marked = frozenset(self.tokens).intersection(vocabulary)
        return replace(
            self,
            opens=tuple(_mark(text, marked) for text in self.opens),
            closes=tuple(_mark(text, marked) for text in self.closes),
            wraps=(_mark(self.wraps[0], marked), _mark(self.wraps[1], marked))
            if self.wraps
            else None,
            marked=marked,
        )

    def known_by(self, source: str) -> bool:
        """Return whether a template mentions these markers."""
        needed = [*self.closes[:1], *(self.wraps or ())]
        if self.channels:
            needed = ["<|channel|>", "<|message|>"]
        return all(text in source for text in needed)


def mark(text: str, marked: frozenset[str]) -> str:
    """Return a marker, with a SEAM before it if it is a token of the vocabulary."""
    return SEAM + text if text in marked else text


def _mark(text: str, marked: frozenset[str]) -> str:
    for token in marked:
        text = text.replace(token, SEAM + token)
    return text


HARMONY: Final = ReasoningFormat(
    ("<|channel|>analysis<|message|>",),
    ("<|end|><|start|>assistant<|channel|>final<|message|>",),
    tokens=("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"),
    channels=True,
)
GEMMA: Final = ReasoningFormat(
    ("<|channel>thought",), ("<channel|>",), lead="\n", tokens=("<|channel>", "<channel|>")
)
MISTRAL: Final = ReasoningFormat(("[THINK]",), ("[/THINK]",), tokens=("[THINK]", "[/THINK]"))
GRANITE: Final = ReasoningFormat(
    ("<think>",),
    ("</think>",),
    wraps=("<response>", "</response>"),
    tokens=("<think>", "</think>", "<response>", "</response>"),
)
GRANITE_WORDS: Final = ReasoningFormat(
    ("Here is my thought process:", "Here's my thought process:"),
    ("Here is my response:", "Here's my response:"),
    lead="\n",
    gap="\n",
    prose=True,
)
THINK: Final = ReasoningFormat(
    ("<think>",), ("</think>",), lead="\n", gap="\n\n", tokens=("<think>", "</think>")
)

FORMATS: Final = (HARMONY, GEMMA, MISTRAL, GRANITE, GRANITE_WORDS, THINK)
"""The reasoning formats, in the order in which they are tried.

They belong to gpt-oss; Gemma 4; Magistral and Ministral; Granite 3.3; Granite 3.2; and DeepSeek,
GLM, Qwen, SmolLM and most others. Sources: the chat templates and model cards that their makers
publish.
"""

ANY_FORMAT: Final = ReasoningFormat(
    ("<think>", "[THINK]", "<|channel>thought"), ("</think>", "[/THINK]", "<channel|>")
)
"""The format for a server that leaves the reasoning in the text: its model's is unknown."""


def format_of(source: str, vocabulary: Iterable[str]) -> tuple[ReasoningFormat | None, bool]:
    """Find the format that a template mentions, or else one whose markers are tokens.

    Returns:
        The format, and whether the template itself mentions it.
    """
    mentioned = next((form for form in FORMATS if form.known_by(source)), None)
    if mentioned is not None:
        return mentioned, True
    tokens = frozenset(vocabulary)
    by_tokens = (
        form
        for form in FORMATS
        if not form.prose and not form.wraps and tokens.issuperset(form.tokens)
    )
    return next(by_tokens, None), False


_LOOKED_FOR: Final = re.compile(
    r"""\.(?:r?split|r?partition|replace|r?find|r?index|startswith|endswith)\(\s{0,9}"""
    r"""(?:'([^'\n]{1,64})'|"([^"\n]{1,64})")"""
    r"""|(?:'([^'\n]{1,64})'|"([^"\n]{1,64})")\s{1,9}(?:not\s{1,9})?in\b"""
)
"""A pattern for the texts that a template looks for in messages, in Jinja's syntax."""
_MARK: Final = re.compile(r"[<\[◁].*\w.*[>\]▷]")
_SWITCH_WORD: Final = re.compile(r"/\w+")


def marks_of(source: str, format_: ReasoningFormat | None) -> tuple[frozenset[str], frozenset[str]]:
    """Find the texts that have a meaning to a template, and so must not come from a person.

    Returns:
        Marks, such as </think>, at which it cuts a message; and words that switch reasoning, such
        as /no_think, which a person may write on purpose, but only as separate words.
    """
    found = {text for groups in _LOOKED_FOR.findall(source) for text in groups if text}
    marks = {text for text in found if _MARK.fullmatch(text)}
    marks.update(text for form in FORMATS for text in form.marks if text in source)
    if format_ is not None:
        marks |= format_.marks
    return frozenset(marks), frozenset(text for text in found if _SWITCH_WORD.fullmatch(text))


Style = Literal["object", "named", "tagged", "python", "braces", "channel"]
"""The forms in which models write a call.

object: JSON with the name and the arguments in it.
named: the name, then JSON.
tagged: the name, then each argument between markers.
python: Python syntax.
braces: Gemma's own form.
channel: a message of the harmony format, see `harmony`.
"""


@dataclass(frozen=True)
class CallFormat:
    """The markers that separate tool calls from text in an answer.

    Attributes:
        signs: The texts that identify this format; its templates mention all of them.
        begins: The markers before calls, the usual spelling first. If one equals `opens`, it begins
            a single call.
        opens: The marker before each call.
        names: The marker between a call's name and its arguments.
        closes: The marker after each call.
        ends: The marker after all calls.
        bare: Calls can also begin without a marker, if they begin the answer.
        plural: Several calls can stand between `begins` and `ends`.
        id_before: The separator between an id and the name after it.
        id_after: The separator between the name and an id after it.
        numbered: The name is written as functions.NAME:NUMBER, and that is the id.
        key: The marker before an argument's name.
        key_end: The marker after an argument's name.
        value: The marker before an argument's value.
        value_end: The marker after an argument's value; {key} stands for its name.
        typed: The separator between an argument's name and the type of its value.
        padded: A value stands on lines of its own.
        quote: The marker around a text value.
        name_key: The JSON key of the name.
        arguments: The JSON key of the arguments; "" if the name itself is the key.
        id_key: The JSON key of an id before the name.
        listed: The JSON is a list of calls.
        text_name: The name under which the model writes text in place of a call.
        tokens: The single tokens in these markers.
        vllm: The name of the vLLM parser that reads this format.
    """

    name: str
    signs: tuple[str, ...]
    style: Style
    begins: tuple[str, ...] = ()
    opens: str = ""
    names: str = ""
    closes: str = ""
    ends: str = ""
    bare: bool = False
    plural: bool = False
    id_before: str = ""
    id_after: str = ""
    numbered: bool = False
    key: str = ""
    key_end: str = ""
    value: str = ""
    value_end: str = ""
    typed: str = ""
    padded: bool = False
    quote: str = ""
    name_key: str = "name"
    arguments: str = "arguments"
    id_key: str = ""
    listed: bool = False
    text_name: str = ""
    tokens: tuple[str, ...] = ()
    vllm: str = ""

    def known_by(self, source: str) -> bool:
        """Return whether a template mentions these markers."""
        return all(text in source for text in self.signs)

    def begins_of(self, vocabulary: frozenset[str]) -> tuple[str, ...]:
        """Return `begins` with a SEAM before each marker that is a token of the vocabulary."""
        marked = vocabulary.intersection(self.tokens)
        return tuple(_mark(text, marked) for text in self.begins)


HERMES: Final = CallFormat(
    "hermes",
    ("<tool_call>",),
    "object",
    ("<tool_call>",),
    ends="</tool_call>",
    tokens=("<tool_call>", "</tool_call>"),
    vllm="hermes",
)
QWEN_XML: Final = CallFormat(
    "qwen_xml",
    ("<tool_call>", "<function=", "<parameter="),
    "tagged",
    ("<tool_call>", "<function="),
    opens="<function=",
    names=">",
    closes="</function>",
    ends="</tool_call>",
    key="<parameter=",
    key_end=">",
    value_end="</parameter>",
    padded=True,
    tokens=("<tool_call>", "</tool_call>"),
    vllm="qwen3_xml",
)
GLM: Final = CallFormat(
    "glm",
    ("<tool_call>", "<arg_key>"),
    "tagged",
    ("<tool_call>",),
    ends="</tool_call>",
    key="<arg_key>",
    key_end="</arg_key>",
    value="<arg_value>",
    value_end="</arg_value>",
    tokens=(
        "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
    ),
    vllm="glm47",
)  # fmt: skip

CALLS: Final = (
    CallFormat(
        "harmony",
        ("<|channel|>", "<|message|>", "<|start|>"),
        "channel",
        tokens=("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"),
        vllm="openai",
    ),
    CallFormat(
        "gemma",
        ("<|tool_call>call:",),
        "braces",
        ("<|tool_call>",),
        opens="call:",
        ends="<tool_call|>",
        quote='<|"|>',
        tokens=("<|tool_call>", "<tool_call|>", '<|"|>'),
        vllm="gemma4",
    ),
    CallFormat(
        "function_gemma",
        ("<start_function_call>", "<escape>"),
        "braces",
        ("<start_function_call>",),
        opens="call:",
        ends="<end_function_call>",
        quote="<escape>",
        tokens=("<start_function_call>", "<end_function_call>", "<escape>"),
        vllm="functiongemma",
    ),
    CallFormat(
        "mistral_named",
        ("[TOOL_CALLS]", "[ARGS]"),
        "named",
        ("[TOOL_CALLS]",),
        names="[ARGS]",
        id_after="[CALL_ID]",
        tokens=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),
        vllm="mistral",
    ),
    CallFormat(
        "mistral",
        ("[TOOL_CALLS]",),
        "object",
        ("[TOOL_CALLS]",),
        plural=True,
        listed=True,
        tokens=("[TOOL_CALLS]",),
        vllm="mistral",
    ),
    CallFormat(
        "deepseek_v32",
        ("｜DSML｜", "function_calls>"),
        "tagged",
        ("<｜DSML｜function_calls>",),
        opens='<｜DSML｜invoke name="',
        names='">',
        closes="</｜DSML｜invoke>",
        ends="</｜DSML｜function_calls>",
        plural=True,
        key='<｜DSML｜parameter name="',
        key_end='">',
        typed='" string="',
        value_end="</｜DSML｜parameter>",
        tokens=("｜DSML｜",),
        vllm="deepseek_v32",
    ),
    CallFormat(
        "deepseek_v4",
        ("｜DSML｜", "invoke"),
        "tagged",
        ("<｜DSML｜tool_calls>",),
        opens='<｜DSML｜invoke name="',
        names='">',
        closes="</｜DSML｜invoke>",
        ends="</｜DSML｜tool_calls>",
        plural=True,
        key='<｜DSML｜parameter name="',
        key_end='">',
        typed='" string="',
        value_end="</｜DSML｜parameter>",
        tokens=("｜DSML｜",),
        vllm="deepseek_v4",
    ),
    CallFormat(
        "deepseek_v3",
        ("<｜tool▁calls▁begin｜>", "```json"),
        "named",
        ("<｜tool▁calls▁begin｜>",),
        opens="<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
        names="\n```json\n",
        closes="\n```<｜tool▁call▁end｜>",
        ends="<｜tool▁calls▁end｜>",
        plural=True,
        tokens=(
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>",
        ),
        vllm="deepseek_v3",
    ),
    CallFormat(
        "deepseek_v31",
        ("<｜tool▁calls▁begin｜>",),
        "named",
        ("<｜tool▁calls▁begin｜>",),
        opens="<｜tool▁call▁begin｜>",
        names="<｜tool▁sep｜>",
        closes="<｜tool▁call▁end｜>",
        ends="<｜tool▁calls▁end｜>",
        plural=True,
        tokens=(
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>",
        ),
        vllm="deepseek_v31",
    ),
    CallFormat(
        "kimi",
        ("<|tool_calls_section_begin|>", "<|tool_call_argument_begin|>"),
        "named",
        ("<|tool_calls_section_begin|>",),
        opens="<|tool_call_begin|>",
        names="<|tool_call_argument_begin|>",
        closes="<|tool_call_end|>",
        ends="<|tool_calls_section_end|>",
        numbered=True,
        plural=True,
        tokens=(
            "<|tool_calls_section_begin|>",
            "<|tool_call_begin|>",
            "<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
            "<|tool_calls_section_end|>",
        ),
        vllm="kimi_k2",
    ),
    CallFormat(
        "kimi_k3",
        ("<|open|>", "<|sep|>", "<|close|>"),
        "tagged",
        ("<|open|>tools<|sep|>",),
        opens='<|open|>call tool="',
        names="<|sep|>",
        closes="<|close|>call<|sep|>",
        ends="<|close|>tools<|sep|>",
        plural=True,
        key='<|open|>argument key="',
        key_end="<|sep|>",
        typed='" type="',
        value_end="<|close|>argument<|sep|>",
        tokens=("<|open|>", "<|sep|>", "<|close|>"),
        vllm="kimi_k3",
    ),
    CallFormat(
        "solar",
        ("<|tool_call:begin|>", "<|tool_call:args|>"),
        "named",
        ("<|tool_calls|>",),
        opens="<|tool_call:begin|>",
        names="<|tool_call:args|>",
        closes="<|tool_call:end|>",
        id_before="<|tool_call:name|>",
        plural=True,
        tokens=(
            "<|tool_calls|>",
            "<|tool_call:begin|>",
            "<|tool_call:name|>",
            "<|tool_call:args|>",
            "<|tool_call:end|>",
        ),
    ),
    CallFormat(
        "seed",
        ("<seed:tool_call>", "<parameter="),
        "tagged",
        ("<seed:tool_call>",),
        opens="<function=",
        names=">",
        closes="</function>",
        ends="</seed:tool_call>",
        key="<parameter=",
        key_end=">",
        value_end="</parameter>",
        tokens=("<seed:tool_call>", "</seed:tool_call>"),
        vllm="seed_oss",
    ),
    CallFormat(
        "minimax_m3",
        ("]<]minimax[>[", "<invoke name="),
        "tagged",
        ("]<]minimax[>[<tool_call>",),
        opens=']<]minimax[>[<invoke name="',
        names='">',
        closes="]<]minimax[>[</invoke>",
        ends="]<]minimax[>[</tool_call>",
        plural=True,
        key="]<]minimax[>[<",
        key_end=">",
        value_end="]<]minimax[>[</{key}>",
        tokens=("]<]minimax[>[",),
        vllm="minimax_m3",
    ),
    CallFormat(
        "minimax_m2",
        ("<minimax:tool_call>", "<invoke name="),
        "tagged",
        ("<minimax:tool_call>",),
        opens='<invoke name="',
        names='">',
        closes="</invoke>",
        ends="</minimax:tool_call>",
        plural=True,
        key='<parameter name="',
        key_end='">',
        value_end="</parameter>",
        tokens=("<minimax:tool_call>", "</minimax:tool_call>"),
        vllm="minimax_m2",
    ),
    CallFormat(
        "muse",
        ("<atem:function_calls>", "<atem:invoke name="),
        "tagged",
        ("<atem:function_calls>",),
        opens='<atem:invoke name="',
        names='">',
        closes="</atem:invoke>",
        ends="</atem:function_calls>",
        plural=True,
        key='<atem:parameter name="',
        key_end='">',
        value_end="</atem:parameter>",
        vllm="muse_glimmer",
    ),
    CallFormat(
        "hunyuan",
        (":opensource'", "<arg_key"),
        "tagged",
        ("<tool_calls:opensource>",),
        opens="<tool_call:opensource>",
        names="<tool_sep:opensource>",
        closes="</tool_call:opensource>",
        ends="</tool_calls:opensource>",
        plural=True,
        key="<arg_key:opensource>",
        key_end="</arg_key:opensource>",
        value="<arg_value:opensource>",
        value_end="</arg_value:opensource>",
        tokens=(
            "<tool_calls:opensource>",
            "</tool_calls:opensource>",
            "<tool_call:opensource>",
            "</tool_call:opensource>",
            "<tool_sep:opensource>",
        ),
        vllm="hy_v3",
    ),
    CallFormat(
        "minicpm",
        ('<function name="', '<param name="'),
        "tagged",
        ('<function name="',),
        opens='<function name="',
        names='">',
        closes="</function>",
        key='<param name="',
        key_end='">',
        value_end="</param>",
        vllm="minicpm5",
    ),
    CallFormat(
        "command",
        ("<|START_ACTION|>", "tool_call_id"),
        "object",
        ("<|START_ACTION|>",),
        ends="<|END_ACTION|>",
        plural=True,
        listed=True,
        name_key="tool_name",
        id_key="tool_call_id",
        arguments="parameters",
        tokens=("<|START_ACTION|>", "<|END_ACTION|>"),
        vllm="cohere_command3",
    ),
    CallFormat(
        "command_r",
        ("Action:", "tool_name", "```json"),
        "object",
        ("Action:\n```json", "Action: ```json"),
        ends="```",
        plural=True,
        listed=True,
        name_key="tool_name",
        arguments="parameters",
    ),
    CallFormat(
        "nemotron",
        ("<TOOLCALL>",),
        "object",
        ("<TOOLCALL>",),
        ends="</TOOLCALL>",
        plural=True,
        listed=True,
    ),
    CallFormat(
        "apertus",
        ("<|tools_prefix|>", "<|tools_suffix|>"),
        "object",
        ("<|tools_prefix|>",),
        ends="<|tools_suffix|>",
        plural=True,
        listed=True,
        arguments="",
        tokens=("<|tools_prefix|>", "<|tools_suffix|>"),
        vllm="apertus",
    ),
    CallFormat(
        "lfm2",
        ("<|tool_call_start|>",),
        "python",
        ("<|tool_call_start|>",),
        ends="<|tool_call_end|>",
        plural=True,
        tokens=("<|tool_call_start|>", "<|tool_call_end|>"),
        vllm="lfm2",
    ),
    CallFormat(
        "lfm2_listed",
        ("List of tools: ", "<|im_start|>"),
        "python",
        ("<|tool_call_start|>",),
        ends="<|tool_call_end|>",
        plural=True,
        tokens=("<|tool_call_start|>", "<|tool_call_end|>"),
        vllm="lfm2",
    ),
    CallFormat(
        "phi",
        ("<|tool|>", "<|/tool|>"),
        "object",
        ("<|tool_call|>", "functools"),
        ends="<|/tool_call|>",
        plural=True,
        listed=True,
        tokens=("<|tool_call|>", "<|/tool_call|>"),
        vllm="phi4_mini_json",
    ),
    CallFormat(
        "functools",
        ("functools[",),
        "object",
        ("functools",),
        plural=True,
        listed=True,
        vllm="phi4_mini_json",
    ),
    CallFormat(
        "granite",
        ("<|tool_call|>",),
        "object",
        ("<|tool_call|>",),
        plural=True,
        listed=True,
        tokens=("<|tool_call|>",),
        vllm="granite",
    ),
    CallFormat(
        "gigachat",
        ("<|function_call|>", "<|role_sep|>"),
        "object",
        ("<|function_call|>",),
        tokens=("<|function_call|>",),
        vllm="gigachat3",
    ),
    CallFormat(
        "gigachat_role",
        ("function call", "<|role_sep|>"),
        "object",
        ("<|message_sep|>\n\nfunction call<|role_sep|>",),
        vllm="gigachat3",
    ),
    CallFormat(
        "functionary",
        ("<function=", "</function>", "<|start_header_id|>"),
        "named",
        ("<function=",),
        opens="<function=",
        names=">",
        closes="</function>",
    ),
    CallFormat(
        "functionary_lines",
        (">>>all", ">>>"),
        "named",
        (">>>",),
        names="\n",
        bare=True,
        text_name="all",
    ),
    CallFormat(
        "tool_calls",
        ("<tool_calls>",),
        "object",
        ("<tool_calls>",),
        ends="</tool_calls>",
        plural=True,
        listed=True,
    ),
    QWEN_XML,
    GLM,
    HERMES,
    CallFormat(
        "llama4_python",
        ("<|header_start|>", "[func_name1("),
        "python",
        ("<|python_start|>",),
        ends="<|python_end|>",
        bare=True,
        plural=True,
        tokens=("<|python_start|>", "<|python_end|>"),
        vllm="llama4_pythonic",
    ),
    CallFormat(
        "llama4",
        ("<|header_start|>", "tools"),
        "object",
        ("<|python_start|>",),
        ends="<|python_end|>",
        bare=True,
        plural=True,
        arguments="parameters",
        tokens=("<|python_start|>", "<|python_end|>"),
        vllm="llama4_json",
    ),
    CallFormat(
        "llama3",
        ("<|start_header_id|>", "tools", '"parameters": '),
        "object",
        ("<|python_tag|>",),
        bare=True,
        plural=True,
        arguments="parameters",
        tokens=("<|python_tag|>",),
        vllm="llama3_json",
    ),
)
"""The formats of calls, the more specific ones first.

Sources: the chat templates and model cards that their makers publish, and vLLM's names of its
parsers (0.33, vllm/tool_parsers/__init__.py).
"""

ANY_CALLS: Final = (
    HERMES, QWEN_XML, GLM,
    *(form for form in CALLS if form.name in {"mistral_named", "mistral", "kimi", "minimax_m2"}),
)  # fmt: skip
"""The formats for a server that leaves calls in the text: its model's is unknown."""


def call_format_of(source: str) -> CallFormat | None:
    """Find the format in which a template's model writes calls; None if it knows no calls."""
    return next((form for form in CALLS if form.known_by(source)), None)
