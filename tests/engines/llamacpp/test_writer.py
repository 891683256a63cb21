"""Bytes, characters, reasoning and stop strings together."""

from __future__ import annotations

import pytest

from engines.dialect import REASONING
from engines.llamacpp.writer import Writer
from engines.types import ReasoningDelta

THINK = REASONING[1]


def write(text: str, *, stops: tuple[str, ...] = ()) -> tuple[str, str, Writer]:
    """Reasoning and answer, when the text comes byte by byte."""
    writer = Writer(THINK, stops, inside_reasoning=False)
    deltas = [
        delta
        for byte in text.encode()
        if not writer.stopped
        for delta in writer.feed(bytes([byte]))
    ]
    if not writer.stopped:
        deltas += writer.finish()
    reasoning = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    answer = "".join(delta.text for delta in deltas if not isinstance(delta, ReasoningDelta))
    return reasoning, answer, writer


@pytest.mark.parametrize("text", ["Just so: 🙂", "ends in a begun stop: EN", "<thin", "<", "ž"])
def test_everything_comes_out_at_the_end(text: str) -> None:
    reasoning, answer, writer = write(text, stops=("END",))
    assert (reasoning, answer) == ("", text)
    assert writer.raw == text


def test_a_stop_string_does_not_end_the_reasoning() -> None:
    reasoning, answer, writer = write("<think>at the END</think>Now the END of it.", stops=("END",))
    assert (reasoning, answer) == ("at the END", "Now the ")
    assert writer.stopped
    assert writer.raw.endswith("Now the END")


def test_half_a_character_at_the_end_is_marked() -> None:
    writer = Writer(None, (), inside_reasoning=False)
    deltas = [*writer.feed("ž".encode()[:1]), *writer.finish()]
    assert [delta.text for delta in deltas] == ["\N{REPLACEMENT CHARACTER}"]
