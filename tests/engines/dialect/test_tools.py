"""Tools in a chat template, and calls in the text of an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from engines.dialect import CHATML, CallReader
from engines.errors import TemplateFailed
from engines.llamacpp.writer import Writer
from engines.types import Message, TextDelta, Tool, ToolCall
from tests.engines.dialects import in_process

CLOCK = Tool("clock", "The time of a town", {"type": "object", "properties": {}})
HERMES = (
    "{% if tools %}<|im_start|>system\nYour tools:\n{% for tool in tools %}{{ tool | tojson }}\n"
    "{% endfor %}Ask as <tool_call>{...}</tool_call>.<|im_end|>\n{% endif %}"
) + CHATML
CALL = '<tool_call>\n{"name": "clock", "arguments": {"town": "Köln"}}\n</tool_call>'
ASKED = ToolCall("clock", '{"town": "Köln"}', "call_1")


def read(pieces: Sequence[str]) -> tuple[str, list[ToolCall]]:
    reader = CallReader()
    found = [it for piece in pieces for it in reader.feed(piece)] + reader.finish()
    text = "".join(it.text for it in found if isinstance(it, TextDelta))
    return text, [it for it in found if isinstance(it, ToolCall)]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_calls_are_read_however_they_are_cut(size: int) -> None:
    whole = f"One moment. {CALL}\n{CALL}\nThere."
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    text, calls = read(pieces)
    assert text == "One moment. There."
    assert calls == [ASKED, ToolCall("clock", '{"town": "Köln"}', "call_2")]


def test_the_last_marker_may_be_missing() -> None:
    assert read([CALL.removesuffix("</tool_call>")]) == ("", [ASKED])


@pytest.mark.parametrize(
    "text",
    [
        "a < b and <tool",
        "<tool_call>no JSON</tool_call>",
        '<tool_call>{"arguments": {}}</tool_call> and more',
        "<tool_call>[1]</tool_call>",
        "The marker is <tool_call>.",
    ],
)
def test_what_is_no_call_stays_text(text: str) -> None:
    assert read(list(text)) == (text, [])


def test_a_template_offers_tools() -> None:
    dialect = in_process(HERMES)
    asked = (Message("user", "How late is it?"),)
    offered = dialect.render(asked, tools=(CLOCK,)).text
    line = next(line for line in offered.splitlines() if line.startswith("{"))
    assert json.loads(line)["function"]["name"] == "clock"
    assert "clock" not in dialect.render(asked).text
    with pytest.raises(TemplateFailed, match="tools"):
        in_process(CHATML).render(asked, tools=(CLOCK,))


def test_a_stop_string_counts_in_the_text_only() -> None:
    plain = in_process(HERMES)
    splitter = plain.splitter(plain.render((Message("user", "?"),)))
    writer = Writer(splitter, ("name",), CallReader())
    found = list(writer.feed(f"Well, {CALL}".encode())) + list(writer.finish(ended=True))
    assert found == [TextDelta("Well, "), ASKED]
    assert writer.called
    assert not writer.stopped
