"""Texts that are made to hang a window, or that are far too large."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtGui import QTextTable
from PySide6.QtWidgets import QApplication, QWidget

from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.icon_button import IconButton
from app.markdown.parser import Parser
from tests.support.suite import sampled

MOST_S = 2.0
"""Limit of processor time for one turn of the event loop, in seconds.

It is twenty times the worst of these texts, and far below a fault, which takes a minute.
"""

TEXTS = {
    "a line": "word " * 20_000,
    "a line without spaces": "x" * 100_000,
    "quotations": ">" * 5_000 + "end",
    "lists": "- " * 5_000 + "end",
    "indented lists": "".join("  " * depth + "- a\n" for depth in range(150)) + "\nend",
    "a fence that stays open": "```python\n" + "x = f(1)  # a line\n" * 5_000,
    "a line of code": "```\n" + "y" * 100_000,
    "a table": "|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n" + ("|" + "1|" * 200 + "\n") * 60,
    "a list": "- a point\n" * 2_000,
    "many fences": "```\na\n```\n" * 600,
    "brackets": "[" * 10_000,
    "html": "<div><script>alert(1)</script>" * 1_000,
    "paragraphs": "a\n\n" * 4_000,
    "definitions": "[a]: http://b\n" * 2_000,
    "formulas": "$x_1$ " * 3_000,
    "signs without width": "\u202e\u200f\ufeff\u0301" * 5_000,
}

WHOLE = {"a line", "quotations", "lists", "a line of code", "html"}
"""Texts whose every letter is shown unchanged."""
SLOW = {"a line without spaces", "a fence that stays open", "html", "definitions"}
"""The texts that take longest and are like others; they run with `--all`."""


@pytest.fixture
def view(qapp: QApplication) -> Iterator[MarkdownView]:
    host = QWidget()
    host.resize(700, 900)
    shown = MarkdownView(Parser(), 14, host)
    shown.resize(700, 100)
    host.show()
    yield shown
    shiboken6.delete(host)


def longest_turn(view: MarkdownView, text: str) -> float:
    """Show a text and return this thread's seconds in the longest turn of the event loop."""
    longest, began = 0.0, time.thread_time()
    view.show_markdown(text)
    while True:
        longest = max(longest, time.thread_time() - began)
        if view.is_complete:
            return longest
        began = time.thread_time()
        QApplication.processEvents()


@pytest.mark.parametrize("name", sampled(TEXTS, TEXTS.keys() - SLOW))
def test_it_is_shown_and_no_turn_of_the_loop_takes_long(view: MarkdownView, name: str) -> None:
    assert longest_turn(view, TEXTS[name]) < MOST_S
    assert view.height() > 14
    if name in WHOLE:
        letters = [it for it in view.toPlainText() if it.isalnum()]
        said = "".join(filter(str.isalnum, TEXTS[name]))
        assert "".join(letters).removeprefix("text") == said


def test_the_buttons_have_a_limit(view: MarkdownView) -> None:
    longest_turn(view, TEXTS["many fences"])
    assert len(view.code_blocks) == 600
    assert len(view.findChildren(IconButton)) == 200


def test_a_table_that_is_too_wide_is_reached_by_a_scroll_bar(view: MarkdownView) -> None:
    view.show_markdown("|" + "A heading|" * 14 + "\n|" + "-|" * 14 + "\n|" + "x|" * 14)
    QApplication.processEvents()
    (table,) = view.document().rootFrame().childFrames()
    assert isinstance(table, QTextTable)
    assert view.horizontalScrollBar().maximum() > 0
    bar = view.horizontalScrollBar().sizeHint().height()
    assert view.height() >= view.document().size().height() + bar
    view.show_markdown("narrow")
    assert view.horizontalScrollBar().maximum() == 0


def test_code_on_a_long_line_is_copied_as_it_was(view: MarkdownView) -> None:
    longest_turn(view, f"```\n{'y' * 9_000}\nz\n```")
    (code,) = view.code_blocks
    assert code.code.text == "y" * 9_000 + "\nz"
    assert view.document().findBlockByNumber(code.last).text() == "z"
    assert max(len(line) for line in view.toPlainText().split("\n")) < 2_010
