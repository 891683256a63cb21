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
        deltas += writer.finish(ended=True)
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
    deltas = [*writer.feed("ž".encode()[:1]), *writer.finish(ended=True)]
    assert [delta.text for delta in deltas] == ["\N{REPLACEMENT CHARACTER}"]
    assert (writer.raw, writer.known) == ("\N{REPLACEMENT CHARACTER}", 1)


def test_of_an_answer_that_was_cut_only_whole_characters_are_known() -> None:
    writer = Writer(None, (), inside_reasoning=False)
    pieces = (b"a", "ž".encode()[:1], "ž".encode()[1:] + b"!", b"x\xf0\x9f", b"\x99")
    deltas = [delta for piece in pieces for delta in writer.feed(piece)]
    deltas += writer.finish(ended=False)
    assert "".join(delta.text for delta in deltas) == "až!x"
    assert (writer.raw, writer.known) == ("až!", 3)
