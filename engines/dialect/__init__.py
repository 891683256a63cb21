"""The dialect of a model family: its chat template, and its markers of reasoning and tool calls.

The template is a program that comes with the model file: it runs in a sandbox and, unless it came
with Hearth, in a process of its own, which can be stopped. Text that people wrote passes through it
as data: text that spells a control token never becomes one. Whether a model reasons, and how to
make it reason, is found out by rendering the template both ways.
"""

from engines.dialect.dialect import CHATML, Dialect, RenderedPrompt, abilities
from engines.dialect.formats import FORMATS, ReasoningFormat
from engines.dialect.splitter import Splitter
from engines.dialect.switch import ThinkingChoices, may_reason
from engines.dialect.tools import CallReader

__all__ = [
    "CHATML",
    "FORMATS",
    "CallReader",
    "Dialect",
    "ReasoningFormat",
    "RenderedPrompt",
    "Splitter",
    "ThinkingChoices",
    "abilities",
    "may_reason",
]
