"""A text that arrives in pieces shows the same as the text at once."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app.markdown.blocks import Block, Code
from app.markdown.parser import Parser
from app.markdown.splitter import StreamSplitter, clean

PARSER = Parser()

LINES = [
    "", "", "a word", "two *words*", "# heading", "#", "#tag", "===", "---", "***bold***", "- a",
    "- ", "  - nested", "    deep", "1. one", "2. two", "   more", "> quote", "> - in quote", ">",
    "```", "```python", "~~~", "code()", "| a | b |", "|---|---|", "| 1 | 2 |", "a | b", "--|--",
    "\tindented", "* star", "+ plus", "10) ten", "<div>", "&amp; **", "`code`", "text\r", "—é😀",
]  # fmt: skip


def stream(text: str, cuts: list[int]) -> tuple[Block, ...]:
    splitter = StreamSplitter(PARSER)
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    settled: list[Block] = []
    tail: tuple[Block, ...] = ()
    for begin, end in pairwise(edges):
        update = splitter.feed(text[begin:end])
        settled += update.settled
        tail = update.tail
    assert splitter.text == clean(text)
    return (*settled, *tail)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), max_size=24),
    st.booleans(),
    st.lists(st.integers(min_value=0), max_size=40),
)
def test_pieces_show_the_same_as_the_whole(lines: list[str], ends: bool, cuts: list[int]) -> None:
    text = "\n".join(lines) + ("\n" if ends else "")
    assert stream(text, cuts) == PARSER.parse(clean(text))


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet="ab *_`#>-|\n[]()!1.~\\", max_size=120), st.lists(st.integers(0), max_size=9)
)
def test_any_characters_do(text: str, cuts: list[int]) -> None:
    splitter = StreamSplitter(PARSER)
    shown = stream(text, cuts)
    splitter.feed(text)
    final = splitter.finish()
    whole = PARSER.parse(clean(text))
    assert (shown if final is None else final) == whole


def test_a_line_that_has_only_begun_settles_nothing() -> None:
    splitter = StreamSplitter(PARSER)
    assert splitter.feed("para\n***").settled == ()
    assert splitter.feed("bold***").settled == ()


def test_what_is_settled_is_not_parsed_again() -> None:
    splitter = StreamSplitter(PARSER)
    settled = splitter.feed("one\n\ntwo\n\nthree\n\nfour").settled
    assert len(settled) == 2
    update = splitter.feed(" and")
    assert update.settled == ()
    assert len(update.tail) == 2


def test_a_definition_at_the_end_turns_early_text_into_a_link() -> None:
    splitter = StreamSplitter(PARSER)
    splitter.feed("see [this]\n\nother\n\n[this]: https://example.com")
    final = splitter.finish()
    assert final is not None
    assert "https://example.com" in repr(final[0])


def test_an_unfinished_definition_is_not_kept() -> None:
    splitter = StreamSplitter(PARSER)
    splitter.feed("[this]: https://exam")
    splitter.feed("ple.com\n\n[this]\n\nend\n")
    assert "https://example.com" in repr(splitter.finish())


def test_an_open_fence_is_one_growing_block() -> None:
    splitter = StreamSplitter(PARSER)
    splitter.feed("```python\na = 1\n")
    (block,) = splitter.feed("b = 2").tail
    assert block == Code("a = 1\nb = 2", "python", closed=False)
