"""Bytes, characters, reasoning and stop strings together."""

from __future__ import annotations

import pytest

from engines.dialect.formats import HARMONY, THINK
from engines.dialect.splitter import open_splitter
from engines.llamacpp.writer import Delta, Writer
from engines.text import SEAM
from engines.types import ReasoningDelta, TextDelta, WasReasoning


def write(text: str, *, stops: tuple[str, ...] = ()) -> tuple[str, str, Writer]:
    """Return reasoning, answer and writer for a text that arrives byte by byte."""
    writer = Writer(open_splitter(THINK), stops)
    deltas = [
        delta
        for byte in text.encode()
        if not writer.stopped
        for delta in writer.feed(bytes([byte]))
    ]
    if not writer.stopped:
        deltas += writer.finish(ended=True)
    reasoning = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    answer = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
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
    writer = Writer(open_splitter(None), ())
    deltas = [*writer.feed("ž".encode()[:1]), *writer.finish(ended=True)]
    assert deltas == [TextDelta("\N{REPLACEMENT CHARACTER}")]
    assert (writer.raw, writer.known) == ("\N{REPLACEMENT CHARACTER}", 1)


def test_of_an_answer_that_was_cut_only_whole_characters_are_known() -> None:
    writer = Writer(open_splitter(None), ())
    pieces = (b"a", "ž".encode()[:1], "ž".encode()[1:] + b"!", b"x\xf0\x9f", b"\x99")
    deltas = [delta for piece in pieces for delta in writer.feed(piece)]
    deltas += writer.finish(ended=False)
    assert deltas == [TextDelta("a"), TextDelta("ž!"), TextDelta("x")]
    assert (writer.raw, writer.known) == ("až!", 3)


def pieces(writer: Writer, *tokens: str | bytes) -> list[Delta]:
    """Write markers, given as text, and other tokens, given as bytes; return the deltas."""
    return [
        delta
        for token in tokens
        for delta in (writer.feed(b"", token) if isinstance(token, str) else writer.feed(token))
    ] + [*writer.finish(ended=True)]


def test_markers_are_what_the_tokens_say_and_not_the_letters() -> None:
    writer = Writer(open_splitter(THINK.with_tokens(["<think>", "</think>"])), ())
    deltas = pieces(
        writer, "<think>", b"so: </th", b"ink> ", b"ends", "</think>", b"\n\nYes: ", "<think>"
    )
    assert deltas == [
        ReasoningDelta("so: </th"),
        ReasoningDelta("ink> "),
        ReasoningDelta("ends"),
        TextDelta("Yes: "),
        TextDelta("<think>"),
    ]
    assert writer.raw == "<think>so: </think> ends</think>\n\nYes: <think>"
    assert writer.reasoning_pieces == 3


def test_a_seam_in_the_models_own_words_marks_nothing() -> None:
    writer = Writer(open_splitter(THINK.with_tokens(["<think>", "</think>"])), ())
    assert pieces(writer, f"a{SEAM}</think>".encode()) == [
        TextDelta("a\N{REPLACEMENT CHARACTER}</think>")
    ]


def test_only_the_final_channel_is_the_answer() -> None:
    form = HARMONY.with_tokens(HARMONY.tokens)
    writer = Writer(open_splitter(form), ())
    deltas = pieces(
        writer, "<|channel|>", b"analysis", "<|message|>", b"Hm", b".", "<|end|>", "<|start|>",
        b"assistant", "<|channel|>", b"final", "<|message|>", b"An <|end|> is text.",
    )  # fmt: skip
    assert deltas == [
        ReasoningDelta("Hm"),
        ReasoningDelta("."),
        TextDelta("An <|end|> is text."),
    ]
    assert writer.reasoning_pieces == 2


def test_what_a_stop_string_held_back_comes_before_the_news_that_it_was_reasoning() -> None:
    writer = Writer(open_splitter(THINK, expected=True), ("END",))
    deltas = pieces(writer, b"Hm, E", b"\n", b"E", b"\n</think>", b"Yes.")
    before = deltas[: deltas.index(WasReasoning())]
    assert "".join(delta.text for delta in before if isinstance(delta, TextDelta)) == "Hm, E\nE\n"
    assert deltas[-1] == TextDelta("Yes.")
