"""Colouring code, line by line."""

from __future__ import annotations

import time

from app.markdown.highlight import MAX_CHARACTERS, MAX_LINE, highlight


def test_pieces_lie_where_the_words_are() -> None:
    code = 'def f():\n    return "x"  # done'
    lines = code.split("\n")
    found = list(highlight(code, "python"))
    words = {
        lines[number][start : start + length]: kind
        for number, pieces in enumerate(found)
        for start, length, kind in pieces
    }
    assert words["def"] == "keyword"
    assert words["f"] == "name"
    assert words["# done"] == "comment"
    assert any(kind == "string" for kind in words.values())


def test_a_text_over_several_lines_is_cut_at_the_line_ends() -> None:
    pieces = list(highlight('"""a\nb\n"""', "python"))
    assert pieces == [((0, 4, "string"),), ((0, 1, "string"),), ((0, 3, "string"),)]


def test_an_unknown_language_stays_plain() -> None:
    assert list(highlight("x", "no such language")) == []
    assert list(highlight("x", "")) == []


def test_code_that_is_too_long_stays_plain() -> None:
    assert list(highlight("x\n" * MAX_CHARACTERS, "python")) == []
    assert list(highlight("x" * (MAX_LINE + 1), "python")) == []


def test_hostile_code_does_not_take_long() -> None:
    began = time.process_time()
    for code in ("(" * 900, "'" * 900, '"\\' * 450, "/*" * 400, "a" * 900, "\\\n" * 5_000):
        for language in ("python", "javascript", "c++", "html", "sql", "bash", "perl", "markdown"):
            list(highlight(code, language))
    assert time.process_time() - began < 30
