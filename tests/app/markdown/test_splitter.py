"""Parsing a text in pieces, with the same result as parsing it whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.markdown.blocks import Block, Code, Paragraph, Table
from app.markdown.parser import Parser, Piece
from app.markdown.splitter import LONGEST_BLOCK, StreamSplitter, clean

PARSER = Parser()

LINES = [
    "", "", "a word", "two *words*", "# heading", "#", "#tag", "===", "---", "***bold***", "- a",
    "- ", "  - nested", "    deep", "1. one", "2. two", "   more", "> quote", "> - in quote", ">",
    "```", "```python", "~~~", "code()", "| a | b |", "|---|---|", "| 1 | 2 |", "a | b", "--|--",
    "$$", "x^2", "$$x$$", "\\[", "\\]", "a $y$ b", "**「重要」**です", "[^1]", "[^1]: note",
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
    final = splitter.finish()
    return (*settled, *tail) if final is None else final


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
    assert stream(text, cuts) == PARSER.parse(clean(text))


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


class Measured(Parser):
    """A parser that records the length of the longest text it parses at once."""

    longest = 0

    def parse_piece(self, text: str, env: dict[str, Any]) -> Piece:
        self.longest = max(self.longest, len(text))
        return super().parse_piece(text, env)


STEP = 1_000

HUGE = {
    "line": "word " * 6_000,
    "unbroken": "x" * 30_000,
    "list": "- a point of a list\n" * 1_500,
    "quote": "> a line of a quotation\n" * 1_300,
    "table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 3_000,
    "code": "```python\n" + "a = 1\n" * 5_000,
    "code in a list": "- a\n\n  ```\n" + "  a = 1\n" * 6_000,
    "brackets": "[" * 20_000,
    "formula": "$$\n" + "a +\n" * 7_000,
    "html": "<div><script>" * 2_300,
    "definitions": "[a]: http://b\n" * 2_300,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_the_work_for_an_update_has_a_bound(text: str) -> None:
    parser = Measured()
    splitter = StreamSplitter(parser)
    settled: list[Block] = []
    for place in range(0, len(text), STEP):
        update = splitter.feed(text[place : place + STEP])
        settled += update.settled
    assert splitter.text == text
    most = 24_000 if text == HUGE["code in a list"] else LONGEST_BLOCK
    assert parser.longest <= most + STEP


def test_of_a_cut_block_nothing_is_lost() -> None:
    text = "".join(f"- item {number}\n" for number in range(3_000))
    blocks = stream(text, list(range(0, len(text), STEP)))
    words = [span.text for it in blocks if isinstance(it, Paragraph) for span in it.spans]
    assert words == [f"item {number}" for number in range(3_000)]


def test_a_cut_table_goes_on_as_a_table() -> None:
    text = "| a | b |\n|---|---|\n" + "".join(f"| {number} | x |\n" for number in range(1_000))
    blocks = stream(text, list(range(0, len(text), STEP)))
    assert all(isinstance(block, Table) for block in blocks)
    rows = [row for it in blocks if isinstance(it, Table) for row in it.rows[1:]]
    assert [row[0][0].text for row in rows] == [str(number) for number in range(1_000)]


@pytest.mark.parametrize("end", ["```\n", "```\nafter", "``", ""])
def test_long_code_is_one_block(end: str) -> None:
    code = "".join(f"line {number}\n" for number in range(2_000))
    text = f"before\n\n```python x\n{code}{end}"
    assert stream(text, list(range(0, len(text), 333))) == PARSER.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "   ```\n   a\n  b\n    c\n   ```\nd",
        "~~~~ a`b\n~~~\n~~~~~\nx",
        "```\n\n\na\n\n```",
        "```a`b\nc",
    ],
)
def test_a_fence_is_read_on_as_the_parser_reads_it(text: str) -> None:
    assert stream(text, list(range(len(text)))) == PARSER.parse(text)
